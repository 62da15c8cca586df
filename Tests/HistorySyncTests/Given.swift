import BandProfile
import GatewayModel
import HistorySync
import Testing

/// Values for scripts: one ring, one clock, records that only their seq tells apart.
enum Given {
    static let ring = RingID(rawValue: 0xb5e5_d00d)
    static let otherRing = RingID(rawValue: 0x0000_0001)

    static func info(
        _ stored: ClosedRange<UInt32>, window: UInt16 = 0, capacity: UInt32 = 100_000, ring: RingID = ring,
        clockID: UInt16 = 1
    ) -> RingInfo {
        RingInfo(
            clockID: clockID, formatCount: 1, window: window, ring: ring, oldestSeq: stored.lowerBound,
            newestSeq: stored.upperBound, capacity: capacity)
    }

    /// A ring that holds nothing; its next record will be `next`.
    static func emptyInfo(next: UInt32 = 1, ring: RingID = ring) -> RingInfo {
        RingInfo(
            clockID: 1, formatCount: 1, window: 0, ring: ring, oldestSeq: next, newestSeq: next - 1,
            capacity: 100_000)
    }

    static func reading(clockID: UInt16 = 1) -> ClockReading {
        ClockReading(
            clockID: clockID, bandTimeMilliseconds: 1_000, hostTime: Timestamp(milliseconds: 2_000),
            hostMonotonicMilliseconds: 3_000, bootID: "boot", boundMilliseconds: 10, bandSecondsSinceBoot: 60)
    }

    static func records(_ seqs: ClosedRange<UInt32>) -> [HistoryRecord] {
        seqs.map { HistoryRecord(seq: $0, seconds: $0, type: 1, value: 60) }
    }

    static func samples(_ seqs: ClosedRange<UInt32>, clockID: UInt16 = 1) -> [UInt8] {
        HistoryNotification.samples(clockID: clockID, records: records(seqs)).encoded
    }

    static func end(_ last: UInt32, _ status: StreamEnd.Status = .complete) -> [UInt8] {
        HistoryNotification.end(StreamEnd(lastSeq: last, oldestSeq: 1, status: status)).encoded
    }

    /// A notification that no version 1 decoder can read.
    static func unreadable(_ mark: UInt8 = 0) -> [UInt8] { [0x7f, mark] }
    static let unreadableReason = "invalid version at byte 0"

    static func chunk(
        _ seqs: ClosedRange<UInt32>? = nil, gaps: [Gap] = [], questions: [SuspectedGap] = [],
        raw: [RawNotification] = [], through: UInt32? = nil, clockID: UInt16 = 1
    ) -> Chunk {
        Chunk(
            ring: ring,
            records: seqs.map { records($0).map { TimedRecord(record: $0, clockID: clockID) } } ?? [],
            gaps: gaps, openQuestions: questions, raw: raw, through: through ?? seqs?.upperBound ?? 0)
    }

    static func outcome(_ ackThrough: UInt32) -> CommitOutcome {
        CommitOutcome(ackThrough: ackThrough, stored: 0, duplicates: 0, conflicts: 0, keptRaw: 0)
    }

    static func tries(_ tries: Int, connections: Int, at seq: UInt32 = 0) -> Attempts {
        Attempts(seq: seq, tries: tries, connections: connections)
    }
}

extension HistorySession {
    mutating func handle(_ event: SessionEvent, at milliseconds: Int64 = 0) -> [SessionAction] {
        handle(event, at: MonotonicTime(milliseconds: milliseconds))
    }

    /// A session whose SEND FROM was just accepted, everything up to `committed` being durable.
    static func streaming(
        _ info: RingInfo, mode: BandMode = .own, committed: UInt32 = 0, ackThrough: UInt32? = nil,
        predecessors: [RingProgress.Predecessor] = [], at milliseconds: Int64 = 0
    ) -> HistorySession {
        var session = HistorySession(mode: mode)
        _ = session.handle(.started(takenOver: false), at: milliseconds)
        _ = session.handle(.infoRead(info.encoded), at: milliseconds)
        _ = session.handle(
            .progressLoaded(
                RingProgress(
                    nextSeq: committed + 1, ackThrough: ackThrough ?? committed, predecessors: predecessors)),
            at: milliseconds)
        _ = session.handle(.clockRead(Given.reading(clockID: info.clockID)), at: milliseconds)
        let opening = session.handle(.subscribed, at: milliseconds)
        if case .write(.sendFrom)? = opening.last {
        } else {
            Issue.record("no stream was asked for: \(opening)")
        }
        _ = session.handle(.controlPointAnswered(nil), at: milliseconds)
        return session
    }
}
