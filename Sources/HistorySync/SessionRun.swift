import BandProfile
import GatewayModel

/// From notifications to chunks: what is contiguous is committed, what is not is judged.
extension HistorySession {
    mutating func received(_ notifications: [[UInt8]], _ now: MonotonicTime) -> [SessionAction] {
        summary.notifications += notifications.count
        lastActivity = now
        silenceWasAnswered = false
        switch state {
        case .streaming:
            run = notifications
            runIndex = 0
            return proceed()
        case .awaitingEnd(let next, _):
            return notifications.contains(where: isEnd) ? closed(next) : []
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .opening,
            .committing,
            .recordingTry, .aborting, .finished:
            return []  // The caller gives none then.
        }
    }

    func isEnd(_ bytes: [UInt8]) -> Bool {
        if case .end? = try? HistoryNotification(decoding: bytes) { true } else { false }
    }

    /// Works on `run` from `runIndex` until it is used up or something must be answered first.
    mutating func proceed() -> [SessionAction] {
        var records: [TimedRecord] = []
        while runIndex < run.count {
            let bytes = run[runIndex]
            let notification: HistoryNotification
            do {
                notification = try HistoryNotification(decoding: bytes)
            } catch {
                if !records.isEmpty { return commit(records) }
                if let actions = framingFault(error, bytes) { return actions }
                continue
            }
            if let actions = askForPredecessors() { return actions }
            switch notification {
            case .samples(let clockID, let fresh):
                guard let first = fresh.first, let last = fresh.last, last.seq >= expected else {
                    takeNotification()  // What is known is dropped. Duty 7.
                    continue
                }
                if first.seq > expected {
                    if !records.isEmpty { return commit(records) }
                    if let actions = hole(before: first.seq, last: last.seq, bytes) { return actions }
                    continue
                }
                if isNewClock(clockID) {
                    if !records.isEmpty { return commit(records) }
                    clocksTried.insert(clockID)
                    return readClock(.resume)
                }
                let known = Int(expected - first.seq)
                for record in fresh[known...] {
                    records.append(TimedRecord(record: record, clockID: clockID))
                }
                expected = last.seq.nextSeq
                takeNotification()
            case .end(let end):
                if !records.isEmpty { return commit(records) }
                if let actions = ended(end) { return actions }
            }
        }
        if !records.isEmpty { return commit(records) }
        run = []
        runIndex = 0
        return windowWithoutCommit()
    }

    mutating func takeNotification() {
        runIndex += 1
        outstanding += 1
    }

    /// The band's clock was stepped or restarted since it was read on this connection.
    private func isNewClock(_ clockID: UInt16) -> Bool {
        guard let clock, !clocksTried.contains(clockID) else { return false }
        return Int16(bitPattern: clockID &- clock.clockID) > 0
    }

    // MARK: commits

    mutating func commit(_ records: [TimedRecord]) -> [SessionAction] {
        guard let info else { return [] }
        let chunk = Chunk(
            ring: info.ring, records: records, gaps: bridge.gaps, openQuestions: bridge.questions,
            raw: bridge.raw, through: expected - 1)
        bridge = Bridge()
        state = .committing
        return [.commit(chunk)]
    }

    mutating func committed(_ outcome: CommitOutcome, _ now: MonotonicTime) -> [SessionAction] {
        guard case .committing = state else { return [] }
        summary.chunks += 1
        summary.stored += outcome.stored
        summary.duplicates += outcome.duplicates
        summary.conflicts += outcome.conflicts
        summary.keptRaw += outcome.keptRaw
        durableThrough = expected - 1
        ackPoint = min(outcome.ackThrough, durableThrough)
        // A chunk of raw bytes alone is no step past the hole that they fill.
        if givenUpAt != expected {
            givenUpAt = nil
            probe = nil
            stalls = 0
            emptyStreams = 0
        }
        state = .streaming
        lastActivity = now
        let acks = acknowledge()
        if stopRequested { return acks + close(then: .finish(.stopped)) }
        if windowIsExhausted { return acks + close(then: .reopen) }
        return acks + proceed()
    }
}
