/// One run of SEND FROM on one link. Band History Profile 1, "Streams".
struct HistoryStream: Sendable {
    /// The next seq to send.
    var next: UInt32
    /// The newest record that this stream covered.
    var covered: UInt32
    /// Nothing more comes until a control point write ends it (fault "stall").
    var stalled = false
    /// The last seqs of notifications sent and not yet acked, ascending; used only when there is a window.
    private var outstanding: [UInt32] = []
    private var firstOutstanding = 0

    init(from seq: UInt32) {
        next = seq
        covered = seq &- 1
    }

    var outstandingCount: Int { outstanding.count - firstOutstanding }

    mutating func sent(lastSeq: UInt32) {
        outstanding.append(lastSeq)
    }

    /// A notification is outstanding until an ack at or above its last seq.
    mutating func acked(_ seq: UInt32) {
        while firstOutstanding < outstanding.count, outstanding[firstOutstanding] <= seq {
            firstOutstanding += 1
        }
        if firstOutstanding > 256 {
            outstanding.removeFirst(firstOutstanding)
            firstOutstanding = 0
        }
    }
}
