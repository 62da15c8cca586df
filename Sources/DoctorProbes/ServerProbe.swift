import Doctor
import GatewayConfiguration
import GatewayModel
import Glibc
import Uplink

/// One request of the ingest API, with the gateway's token, proxy and certificates. It changes nothing at the server.
public struct ServerProbe: DoctorProbe {
    public let check = DoctorCheck.server
    public let deadline = Duration.seconds(20)
    let upload: GatewayConfiguration.UploadSettings
    let device: DeviceID
    let trust: HostTrust

    /// `device`: one that the server may know; that it does not is fine.
    public init(upload: GatewayConfiguration.UploadSettings, device: DeviceID, trust: HostTrust) {
        self.upload = upload
        self.device = device
        self.trust = trust
    }

    public func gather() async throws(ProbeRefusal) -> FactUpdate {
        // That this user may not read the service's secrets is no fault of the service.
        if geteuid() != 0, access(upload.tokenFile, R_OK) != 0, errno == EACCES {
            throw ProbeRefusal("\(upload.tokenFile): \(String(cString: strerror(EACCES)))")
        }
        let check = ServerCheck(settings: Uplink.UploadSettings(upload), deadline: .seconds(15))
        let (device, trust) = (device, trust)
        let problem = await blocking { check.run(device: device, trust: trust) }
        return { $0.server = ServerFacts(problem: problem) }
    }
}
