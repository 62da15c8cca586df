/// One thing that goes wrong, and when. Written as in `drop:0.01` or `overwrite@100:50`.
public struct Fault: Equatable, Sendable {
    public enum Trigger: Equatable, Sendable {
        case always
        /// The Nth event of the kind that the fault counts, from 1, over the band's whole life.
        case at(UInt64)
        case probability(Double)
        /// Whatever carries this seq, each time.
        case seq(UInt32)
    }

    public var kind: FaultKind
    public var trigger: Trigger
    /// Records, notifications a second, milliseconds or seconds, as the kind says.
    public var amount: Int64
    /// The D-Bus method that is meant, for the kinds that need one.
    public var method: String?

    public init(kind: FaultKind, trigger: Trigger, amount: Int64 = 0, method: String? = nil) {
        self.kind = kind
        self.trigger = trigger
        self.amount = amount
        self.method = method
    }
}

/// Every fault that a script can name. The raw value is its name, without hyphens.
public enum FaultKind: String, CaseIterable, Sendable {
    // One History Data notification of kind SAMPLES.
    case drop
    case duplicate
    case truncate
    case badVersion = "badversion"
    case badKind = "badkind"
    case badOrder = "badorder"
    case reorder
    case empty
    // The stream, at a notification.
    case disconnect
    case stall
    // The ring, at a notification.
    case overwrite
    case reformat
    case rollback
    case clockStep = "clockstep"
    // The end of a stream, counted in ENDs.
    case noEnd = "noend"
    case lateEnd = "lateend"
    // Acks.
    case lostAck = "lostack"
    // Notifications a second.
    case slow
    // Records whose content was already wrong in flash, counted in seqs.
    case badType = "badtype"
    case badMilliseconds = "badms"
    case badOffset = "badoffset"
    case badValue = "badvalue"
    // Persistent, by seq.
    case unreadable
    case absent
    // BlueZ's own, counted in calls or connections.
    case connectFails = "connectfails"
    case connectHangs = "connecthangs"
    case quietConnect = "quietconnect"
    case lateServices = "lateservices"
    case noObjects = "noobjects"
    case lateObjects = "lateobjects"
    case silent
    case neverAnswer = "neveranswer"
    case failCall = "failcall"
    case vanish
    case notifyRefused = "notifyrefused"
    case pairFails = "pairfails"
    case smallMTU = "smallmtu"
    case deadSocket = "deadsocket"
    case forgotten

    /// What the number after a second colon, or after `@N:`, means; nil = there is none.
    var defaultAmount: Int64? {
        switch self {
        case .overwrite, .reformat, .rollback: 30
        case .clockStep: 3_600_000
        case .lateServices, .lateObjects: 3_000
        case .slow: 0
        default: nil
        }
    }

    var needsMethod: Bool { self == .neverAnswer || self == .failCall }
    /// Faults that are tied to a record rather than to a moment.
    var isContent: Bool {
        switch self {
        case .badType, .badMilliseconds, .badOffset, .badValue: true
        default: false
        }
    }
    var allowsSeq: Bool { isContent || self == .unreadable || self == .absent }
}
