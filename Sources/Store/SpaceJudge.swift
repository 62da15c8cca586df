/// Decides by numbers alone whether there is room to commit. With hysteresis, so that a file system that is nearly at the
/// floor does not start and stop the radio in turn.
public struct SpaceJudge: Equatable, Sendable {
    /// What was measured, bytes.
    public struct Reading: Equatable, Sendable {
        /// For this user on the file system of the state directory.
        public var free: Int64
        /// Of the write-ahead log as it is.
        public var log: Int64

        public init(free: Int64, log: Int64) {
            self.free = free
            self.log = log
        }

        /// What is left once the log has grown to what it may and was moved into the database, and SQLite has its
        /// temporary files.
        public var room: Int64 {
            let growth = max(0, SpaceJudge.logLimit - log)
            return free - growth - max(log, SpaceJudge.logLimit) - SpaceJudge.temporary
        }
    }

    /// The log is moved into the database at 4 MiB, and is cut back to 8 MiB after a reader kept it from that.
    static let logLimit: Int64 = 8 << 20
    /// Of a statement that sorts or changes much.
    static let temporary: Int64 = 2 << 20
    /// So much more than the floor, as a part of it, ends a shortage.
    static let hysteresis: Int64 = 4
    static let leastHysteresis: Int64 = 4 << 20

    /// Bytes; 0 = none is kept.
    public let floor: Int64
    public private(set) var isShort = false

    public init(floor: Int64) { self.floor = max(0, floor) }

    /// What has to be free for commits to go on, once they stopped.
    public var recovery: Int64 { floor + max(floor / Self.hysteresis, Self.leastHysteresis) }

    /// Nil = the file system does not say: nothing is held back by that.
    public mutating func judge(_ reading: Reading?) -> Bool {
        guard floor > 0, let reading else {
            isShort = false
            return false
        }
        isShort = reading.room < (isShort ? recovery : floor)
        return isShort
    }
}
