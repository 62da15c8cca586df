/// The answer to a batch, given only after its samples are durably stored.
public struct BatchAnswer: Codable, Equatable, Sendable {
    /// A sample whose raw fields differ from the first of its key; kept beside it.
    public struct Conflict: Codable, Equatable, Sendable {
        public var index: Int
        public var type: String
        public var seq: UInt32

        public init(index: Int, type: String, seq: UInt32) {
            self.index = index
            self.type = type
            self.seq = seq
        }
    }

    /// The code is text here: a gateway meets codes that it does not know.
    public struct Rejected: Codable, Equatable, Sendable {
        public var index: Int
        public var code: String
        public var message: String

        public init(index: Int, code: String, message: String) {
            self.index = index
            self.code = code
            self.message = message
        }
    }

    public var syncID: String
    /// New keys.
    public var accepted: Int
    /// Known keys with nothing newer.
    public var duplicates: Int
    /// Known keys with a higher version that is now current.
    public var corrected: Int
    public var conflicts: [Conflict]
    public var rejected: [Rejected]
    /// Per type, the highest seq of the ring that is durably stored.
    public var ackSeq: [String: UInt32]

    public init(
        syncID: String, accepted: Int = 0, duplicates: Int = 0, corrected: Int = 0,
        conflicts: [Conflict] = [],
        rejected: [Rejected] = [], ackSeq: [String: UInt32] = [:]
    ) {
        self.syncID = syncID
        self.accepted = accepted
        self.duplicates = duplicates
        self.corrected = corrected
        self.conflicts = conflicts
        self.rejected = rejected
        self.ackSeq = ackSeq
    }

    /// The sum of the five counts; equal to `sample_count` in an answer that can be trusted.
    ///
    /// Nil when a count is negative or absurd.
    public var total: Int? {
        let counts = [accepted, duplicates, corrected, conflicts.count, rejected.count]
        guard counts.allSatisfy({ (0...Int(Int32.max)).contains($0) }) else { return nil }
        return counts.reduce(0, +)
    }

    enum CodingKeys: String, CodingKey {
        case accepted, duplicates, corrected, conflicts, rejected
        case syncID = "sync_id"
        case ackSeq = "ack_seq"
    }
}
