/// What requests cost. Bodies as they travelled, compressed; headers are not in it.
public struct Traffic: Equatable, Sendable {
    public var requests: Int
    public var bytesSent: Int
    public var bytesReceived: Int

    public init(requests: Int = 0, bytesSent: Int = 0, bytesReceived: Int = 0) {
        self.requests = requests
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
    }

    public static func - (left: Traffic, right: Traffic) -> Traffic {
        Traffic(
            requests: left.requests - right.requests, bytesSent: left.bytesSent - right.bytesSent,
            bytesReceived: left.bytesReceived - right.bytesReceived)
    }

    public static func += (left: inout Traffic, right: Traffic) {
        left.requests += right.requests
        left.bytesSent += right.bytesSent
        left.bytesReceived += right.bytesReceived
    }
}
