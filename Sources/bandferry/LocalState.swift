import BandProfile
import CommandLineText
import GatewayBus
import GatewayConfiguration
import GatewayModel
import Glibc
import Store

/// What can be said without the daemon: the state directory, read only.
struct LocalState {
    let configuration: Configuration
    let reader: StoreReader

    /// Root reads as the directory's owner does, so that no file of root's appears in it.
    init(_ configuration: Configuration) throws {
        self.configuration = configuration
        try Self.enter(configuration.stateDirectory)
        reader = try StoreReader(directory: configuration.stateDirectory)
    }

    static func enter(_ directory: String) throws(Failure) {
        var facts = stat()
        guard stat(directory, &facts) == 0 else {
            if errno == EACCES { throw notPermitted(directory) }
            throw Failure(
                .notFound,
                "There is no state directory \(directory).\n"
                    + "What to do: start bandferryd once, or name its configuration with --config FILE.")
        }
        guard access(directory, R_OK | X_OK) == 0 else { throw notPermitted(directory) }
        if geteuid() == 0, facts.st_uid != 0 {
            guard setegid(facts.st_gid) == 0, seteuid(facts.st_uid) == 0 else {
                throw notPermitted(directory)
            }
        }
    }

    private static func notPermitted(_ directory: String) -> Failure {
        Failure(
            .notPermitted,
            "This user may not read \(directory).\nWhat to do: use sudo, or ask the daemon: join the group "
                + "bandferry (usermod -aG bandferry USER, and log in again) and start bandferryd.")
    }

    func status() throws -> GatewayStatus {
        let isRunning = StateDirectoryLock.isHeld(directory: configuration.stateDirectory)
        var status = GatewayStatus(
            version: Bandferry.version, stateDirectory: configuration.stateDirectory, running: isRunning)
        status.uploadURL = configuration.upload?.url
        status.bands = try reader.status()
        let record = try reader.uploadRecord()
        status.lastUpload = record.lastSuccess
        let pause = record.pause.flatMap { $0.isOver(at: .now) ? nil : $0.problem }
        status.problems = [try reader.gatewayProblem(), pause].compactMap { $0 }
        if isRunning {
            status.problems.append(
                Problem(.notOnBus, ["file": GatewayBusNames.policyFile]))
        }
        return status
    }

    func export(_ format: ExportFormat, of name: String?, to output: inout Output) throws {
        let device = try device(name, in: try reader.status())
        try output.write(format.header)
        try reader.exportSamples(device) { sample in try output.write(format.line(sample)) }
    }

    /// The device of an id, an address or a name; nil for nil.
    func device(_ name: String?, in bands: [BandStatus]) throws -> DeviceID? {
        guard let name else { return nil }
        if let band = bands.band(called: name) { return band.device }
        throw Failure.noBand(name, among: bands)
    }
}
