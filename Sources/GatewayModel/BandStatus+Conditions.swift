import BandProfile
import Conditions

/// How figures and times are written, which the model does not know.
public struct ConditionWords: Sendable {
    /// `3 records`.
    public var counted: @Sendable (Int, String) -> String
    public var time: @Sendable (Timestamp) -> String
    /// Of seconds: `3 days`.
    public var span: @Sendable (Int64) -> String

    public init(
        counted: @escaping @Sendable (Int, String) -> String, time: @escaping @Sendable (Timestamp) -> String,
        span: @escaping @Sendable (Int64) -> String
    ) {
        self.counted = counted
        self.time = time
        self.span = span
    }

    /// For programs, which read the code alone.
    public static let plain = ConditionWords(
        counted: { "\($0) \($1)s" }, time: { "\($0.milliseconds) ms" }, span: { "\($0) s" })
}

extension BandStatus {
    /// What a person should know of this band, its problem first, then what its figures say.
    public func conditions(_ words: ConditionWords = .plain) -> [Problem] {
        // A forgotten band is not tried any more.
        var found = [problem, isNeverMet ? Problem(.neverMet) : nil, observed(words)].compactMap { $0 }
        if !adopted { found = [] }
        if adopted, recording == .stopped, let contact = lastContact, let recorded = newestRecordedAt {
            let age = words.span((contact.milliseconds - recorded.milliseconds) / 1000)
            found.append(Problem(.stoppedRecording, ["age": age]))
        }
        if let mtu, mtu < BandHistory.preferredMTU {
            let records = BandHistory.recordsPerNotification(mtu: mtu)
            found.append(
                Problem(
                    .mtuSmall,
                    [
                        "mtu": String(mtu), "preferred": String(BandHistory.preferredMTU),
                        "records": words.counted(records, "record"),
                    ]))
        }
        let figures: [(Int, String, Condition)] = [
            (quarantined, "sample", .samplesRefused), (conflicts, "record", .recordsConflict),
            (undecodable, "record", .recordsUndecodable), (gaps, "gap", .historyGaps),
        ]
        for (count, noun, condition) in figures where count > 0 {
            found.append(Problem(condition, ["count": words.counted(count, noun)]))
        }
        return found
    }

    /// Taken in, and not seen since: a wrong address, or a band that is far away or empty.
    private var isNeverMet: Bool { adopted && lastContact == nil && !connected }

    /// It is to be owned here, and for now is not. Of a band that was never met nobody has asked the server yet: its first
    /// session does.
    public var isObservedForNow: Bool {
        guard let lease, mode.effective(lease) != mode else { return false }
        return !(isNeverMet && lease.holder.isEmpty)
    }

    private func observed(_ words: ConditionWords) -> Problem? {
        guard let lease, isObservedForNow else { return nil }
        guard !lease.holder.isEmpty else { return Problem(.observingUnanswered) }
        return Problem(.observing, ["holder": lease.holder, "until": words.time(lease.until)])
    }
}
