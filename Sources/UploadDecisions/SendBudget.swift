/// A cap on bytes a second, as a token bucket that goes on over batches and runs.
///
/// A request that may start goes out whole, and the next one waits until it is paid for: over any time no more bytes
/// travel than the rate allows, one request and `credit` apart.
public struct SendBudget: Equatable, Sendable {
    /// Nil = no cap.
    public let bytesPerSecond: Int?
    /// What was not used is kept for so long.
    public static let credit = Duration.seconds(1)
    /// Counted for each request and its answer: header lines, TLS records.
    public static let overheadBytes = 700

    /// All that was sent is paid for then.
    private var paidAt: Duration?

    public init(bytesPerSecond: Int?) { self.bytesPerSecond = bytesPerSecond.map { max(1, $0) } }

    public mutating func spent(_ traffic: Traffic, now: Duration) {
        guard let bytesPerSecond, traffic.requests > 0 else { return }
        let bytes = traffic.bytesSent + traffic.bytesReceived + traffic.requests * Self.overheadBytes
        let start = max(paidAt ?? now - Self.credit, now - Self.credit)
        paidAt = start + .seconds(1) * (Double(bytes) / Double(bytesPerSecond))
    }

    /// The next request goes then; nil = now.
    public func wait(now: Duration) -> Duration? { paidAt.flatMap { $0 > now ? $0 : nil } }
}
