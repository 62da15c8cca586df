import DBus

/// Why a command was not done. The message says what to do.
public struct CommandFailure: Error, Equatable, Sendable {
    /// The raw value is the last part of the D-Bus error's name.
    public enum Code: String, Sendable, CaseIterable {
        case invalidArguments = "InvalidArguments"
        /// No such band or person is known here.
        case notFound = "NotFound"
        /// The configuration file says so, and the file wins.
        case inConfiguration = "InConfiguration"
        /// No adapter, no BlueZ, or the store can't be written.
        case notReady = "NotReady"
        /// Known, but not heard in time.
        case outOfRange = "OutOfRange"
        case inProgress = "InProgress"
        /// The band and this host made no bond; the message says why.
        case notPaired = "NotPaired"
        /// Somebody else has that name, that id, or that band at that time.
        case taken = "Taken"
        case failed = "Failed"
    }

    public var code: Code
    public var message: String

    public init(_ code: Code, _ message: String) {
        self.code = code
        self.message = message
    }

    private static let prefix = "org.bandferry.Error."

    /// Nil for an error that is not a command's.
    public init?(_ error: BusError) {
        guard error.name.hasPrefix(Self.prefix),
            let code = Code(rawValue: String(error.name.dropFirst(Self.prefix.count)))
        else { return nil }
        self.init(code, error.message)
    }

    public var busError: BusError { BusError(name: Self.prefix + code.rawValue, message: message) }
}

extension CommandFailure: CustomStringConvertible {
    public var description: String { message }
}
