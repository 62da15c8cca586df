/// A method call, as it arrived.
public struct MethodCall: Sendable {
    public var destination: String?
    public var path: String
    /// Empty when the caller named none.
    public var interface: String
    public var member: String
    public var arguments: [BusValue]
    /// Unique name of the caller; set on incoming calls.
    public var sender: String?
    /// Identifies an incoming call for `BusConnection.reply`.
    public var token: UInt64
    /// The signature of the arguments.
    public var signature: String

    public init(
        destination: String? = nil, path: String, interface: String, member: String,
        arguments: [BusValue] = [],
        sender: String? = nil, token: UInt64 = 0, signature: String = ""
    ) {
        self.destination = destination
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.sender = sender
        self.token = token
        self.signature = signature
    }
}

/// What a handler of incoming calls decides.
public enum CallOutcome: Sendable {
    case reply([BusValue])
    case failure(BusError)
    /// The reply follows with `BusConnection.reply(to:with:)`.
    case later
    /// No reply, ever; the call is forgotten.
    case never
}
