import CommandLineText
import GatewayBus
import GatewayModel
import INIFile
import Store

/// Why a command was not done: how the program ends, and what it says on stderr.
struct Failure: Error {
    var code: ExitCode
    var message: String

    init(_ code: ExitCode, _ message: String) {
        self.code = code
        self.message = message
    }

    init(_ failure: GatewayBusFailure) {
        switch failure {
        case .noBus(let reason):
            self.init(
                .notRunning,
                "The message bus can't be reached: \(reason)\n"
                    + "What to do: systemctl status dbus; or set DBUS_SYSTEM_BUS_ADDRESS to another bus.")
        case .notRunning:
            self.init(
                .notRunning,
                "bandferryd is not on the bus.\nWhat to do: systemctl start bandferryd. If it runs, its bus policy "
                    + "is missing: install \(GatewayBusNames.policyFile) and reload dbus.")
        case .notPermitted:
            self.init(
                .notPermitted,
                "This user may not talk to bandferryd.\n"
                    + "What to do: use sudo, or join the group: usermod -aG bandferry USER, and log in again."
            )
        case .command(let failure): self.init(failure)
        case .broken(let error):
            self.init(
                .failed,
                "bandferryd gave no answer: \(error.message)\nWhat to do: see journalctl -u bandferryd.")
        }
    }

    init(_ failure: CommandFailure) {
        let code: ExitCode =
            switch failure.code {
            case .invalidArguments: .usage
            case .notFound: .notFound
            case .inConfiguration: .inConfiguration
            case .outOfRange: .outOfRange
            case .taken: .taken
            case .notReady, .inProgress, .notPaired, .failed: .failed
            }
        self.init(code, failure.message)
    }

    init(_ error: StoreError) {
        let code: ExitCode = error.kind == .missing ? .notFound : .failed
        self.init(
            code,
            "Could not \(error.operation): \(error.message) (\(error.path))\nWhat to do: \(error.remedy)")
    }

    static func noBand(_ name: String, among bands: [BandStatus]) -> Failure {
        Failure(.notFound, bands.refusal(of: name))
    }

    /// Whatever else was thrown.
    init(_ error: any Error) {
        switch error {
        case let error as Failure: self = error
        case let error as GatewayBusFailure: self.init(error)
        case let error as StoreError: self.init(error)
        case let error as UsageError: self.init(.usage, error.description)
        case let error as INIError: self.init(.failed, error.description)
        default: self.init(.failed, "\(error)")
        }
    }
}
