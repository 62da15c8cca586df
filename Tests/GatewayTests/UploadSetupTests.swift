import GatewayConfiguration
import Testing
import Uplink
import UploadDecisions

@testable import Gateway

@Suite struct UploadSetupTests {
    @Test func whatTheFileSaysReachesTheUpload() throws {
        var file = GatewayConfiguration.UploadSettings(
            url: "https://a", tokenFile: "/t", caFile: "/ca", batchSize: 10)
        file.clientCertificate = "/c.pem"
        file.clientKey = "/c.key"
        file.proxy = .server("http://p:3128")
        file.proxyCredentialsFile = "/p"
        file.maxKilobytesPerSecond = 50
        file.meteredHours = MeteredHours([.init(from: 1080, to: 1380)])
        file.onMetered = .wait
        file.leaseSeconds = 90
        let settings = Uplink.UploadSettings(file)
        #expect(settings.url == "https://a" && settings.tokenFile == "/t")
        #expect(settings.transport.authorityFile == "/ca")
        #expect(settings.transport.clientCertificate?.certificateFile == "/c.pem")
        #expect(settings.transport.clientCertificate?.keyFile == "/c.key")
        #expect(settings.transport.proxy == .server("http://p:3128"))
        #expect(settings.transport.proxyCredentialsFile == "/p")
        #expect(settings.limits.bytesPerSecond == 50_000)
        #expect(settings.limits.meteredHours == file.meteredHours && settings.limits.onMetered == .wait)
        #expect(settings.intervals.lease == .seconds(90))
        #expect(settings.intervals.limits.batchSize == 10)
    }

    @Test func whatTheFileLeavesOutHasTheDefaultsOfBoth() {
        let settings = Uplink.UploadSettings(
            GatewayConfiguration.UploadSettings(url: "https://a", tokenFile: "/t"))
        #expect(settings.limits.bytesPerSecond == nil && settings.transport.clientCertificate == nil)
        #expect(settings.intervals.lease == UploadIntervals().lease)
        #expect(settings.intervals.lease == .seconds(3_600))
    }
}
