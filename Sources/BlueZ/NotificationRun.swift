/// A run of notifications in the order in which they came, in one buffer: no allocation for each.
public struct NotificationRun: Sendable, Equatable {
    /// All notifications, one behind the other.
    public private(set) var bytes: [UInt8] = []
    /// Where each ends in `bytes`.
    private var ends: [Int32] = []

    public init() {}

    public init(_ notifications: [[UInt8]]) {
        for notification in notifications { notification.withUnsafeBytes { append($0) } }
    }

    public var count: Int { ends.count }
    public var isEmpty: Bool { ends.isEmpty }

    /// Where notification `index` lies in `bytes`.
    public func range(at index: Int) -> Range<Int> {
        (index == 0 ? 0 : Int(ends[index - 1]))..<Int(ends[index])
    }

    /// A copy of one notification.
    public func notification(at index: Int) -> [UInt8] { Array(bytes[range(at: index)]) }

    /// Copies of all of them.
    public var notifications: [[UInt8]] { (0..<count).map(notification(at:)) }

    mutating func append(_ notification: UnsafeRawBufferPointer) {
        bytes.append(contentsOf: notification)
        ends.append(Int32(bytes.count))
    }

    mutating func reserve(bytes byteCount: Int, notifications: Int) {
        bytes.reserveCapacity(byteCount)
        ends.reserveCapacity(notifications)
    }

    /// Moves the first `wanted` notifications out into a run of their own.
    mutating func takeFirst(_ wanted: Int) -> NotificationRun {
        guard wanted < count else {
            defer { self = NotificationRun() }
            return self
        }
        guard wanted > 0 else { return NotificationRun() }
        let split = Int(ends[wanted - 1])
        var first = NotificationRun()
        first.bytes = Array(bytes[..<split])
        first.ends = Array(ends[..<wanted])
        bytes.removeFirst(split)
        ends.removeFirst(wanted)
        for index in ends.indices { ends[index] -= Int32(split) }
        return first
    }
}
