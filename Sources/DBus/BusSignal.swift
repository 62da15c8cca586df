/// A signal, sent or received.
public struct BusSignal: Sendable, Equatable {
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]
    /// Unique name of the sender; set on incoming signals.
    public var sender: String?

    public init(
        path: String, interface: String, member: String, arguments: [BusValue] = [], sender: String? = nil
    ) {
        self.path = path
        self.interface = interface
        self.member = member
        self.arguments = arguments
        self.sender = sender
    }
}
