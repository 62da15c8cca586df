/// What one server lets its clients take.
public struct HTTPLimits: Sendable, Equatable {
    /// A larger body is answered with 413; nothing of it is kept.
    public var bodyBytes: Int
    /// Request line and headers of one connection, with its buffers.
    public var connectionMemoryBytes: Int
    /// Further clients wait in the backlog.
    public var connections: Int
    /// 0 = no limit.
    public var connectionsPerAddress: Int
    /// A connection that moves no byte for so long is closed.
    public var idleSeconds: Int
    /// A body that has not arrived after so long is given up, however it trickles.
    public var bodyDeadline: Duration

    public init(
        bodyBytes: Int = 1 << 20, connectionMemoryBytes: Int = 32 * 1024, connections: Int = 256,
        connectionsPerAddress: Int = 0, idleSeconds: Int = 30, bodyDeadline: Duration = .seconds(120)
    ) {
        self.bodyBytes = bodyBytes
        self.connectionMemoryBytes = connectionMemoryBytes
        self.connections = connections
        self.connectionsPerAddress = connectionsPerAddress
        self.idleSeconds = idleSeconds
        self.bodyDeadline = bodyDeadline
    }
}
