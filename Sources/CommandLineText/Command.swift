import BandProfile
import GatewayModel

/// What a person asks of `bandferry`.
public enum Command: Equatable, Sendable {
    case status
    case bands
    case scan(seconds: Int)
    /// `pairs`: a person at the terminal is asked what a pairing needs.
    case adopt(
        BluetoothAddress, mode: BandMode, ack: AckPolicy, device: DeviceID?, name: String?, pairs: Bool)
    /// A band is named by address, device id or name, which the gateway knows.
    case pair(String)
    case forget(String)
    /// Nil = every band.
    case sync(String?, noAck: Bool)
    case upload(UploadCommand)
    /// Nil = every band, all days.
    case reconcile(band: String?, days: Int?, isDryRun: Bool)
    /// Nil = lists what could be taken over.
    case replace(ReplaceRequest?)
    case person(PersonCommand)
    /// `band` is an address, a device id or a name, `person` a name or an id; the gateway knows which there are.
    case assign(band: String, person: String, from: TimeArgument, to: TimeArgument?)
    case unassign(band: String, from: TimeArgument)
    /// Nil = of every band.
    case assignments(band: String?)
    /// With `all` the healed ones are listed, too.
    case gaps(device: String?, all: Bool)
    case trends(TrendsRequest)
    case export(ExportFormat, device: String?)
    case doctor
    case recover(startsEmpty: Bool)
    case help(String?)
    case version
}

/// A command line, understood.
public struct Invocation: Equatable, Sendable {
    public static let defaultConfiguration = "/etc/bandferry/bandferry.conf"

    /// Nil = the default, which need not exist.
    public var configuration: String?
    /// For scripts.
    public var json: Bool
    public var command: Command
}

/// A command line that was not understood: what is wrong, and whose help to read.
public struct UsageError: Error, Equatable, Sendable {
    public var message: String
    public var command: String?

    public init(message: String, command: String?) {
        self.message = message
        self.command = command
    }
}

extension UsageError: CustomStringConvertible {
    public var description: String {
        "\(message)\nTry 'bandferry help\(command.map { " \($0)" } ?? "")'."
    }
}
