import GatewayConfiguration
import GatewayModel
import HTTPClient
import UploadDecisions

extension Uplink.UploadSettings {
    /// What the configuration file says of the upload.
    public init(_ upload: GatewayConfiguration.UploadSettings) {
        var transport = TransportSettings(
            authorityFile: upload.caFile, proxy: HTTPProxy(upload.proxy),
            proxyCredentialsFile: upload.proxyCredentialsFile)
        if let certificate = upload.clientCertificate, let key = upload.clientKey {
            transport.clientCertificate = ClientCertificate(certificateFile: certificate, keyFile: key)
        }
        self.init(
            url: upload.url, tokenFile: upload.tokenFile, transport: transport,
            limits: SendLimits(
                bytesPerSecond: upload.maxKilobytesPerSecond.map { $0 * 1000 },
                meteredHours: upload.meteredHours, onMetered: upload.onMetered),
            intervals: UploadIntervals(
                lease: .seconds(upload.leaseSeconds),
                limits: UploadSchedule.Limits(batchSize: upload.batchSize)))
    }
}

extension HTTPProxy {
    fileprivate init(_ setting: ProxySetting) {
        switch setting {
        case .none: self = .none
        case .environment: self = .environment
        case .server(let url): self = .server(url)
        }
    }
}
