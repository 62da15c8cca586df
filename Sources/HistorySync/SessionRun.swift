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
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .opening, .committing,
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
                guard let last = fresh.last, last.seq >= expected else {
                    takeNotification()  // What is known is dropped. Duty 7.
                    continue
                }
                if let first = fresh.first, first.seq > expected {
                    if !records.isEmpty { return commit(records) }
                    if let actions = hole(before: first.seq) { return actions }
                    continue
                }
                if isNewClock(clockID) {
                    if !records.isEmpty { return commit(records) }
                    clocksTried.insert(clockID)
                    return readClock(.resume)
                }
                let known = Int(expected - fresh[0].seq)
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
        if windowIsExhausted { return close(then: .reopen) }
        if windowIsUnreadable {
            probe = max(probe ?? expected, expected).nextSeq
            return close(then: .reopen)
        }
        return repeatAckForWindow()
    }

    private mutating func takeNotification() {
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
        let givenUp = bridge.gaps.map { gap in
            SessionAction.note(
                .gaveUp(first: gap.firstSeq, last: gap.lastSeq ?? gap.firstSeq, cause: gap.cause))
        }
        bridge = Bridge()
        state = .committing
        return givenUp + [.commit(chunk)]
    }

    mutating func committed(_ outcome: CommitOutcome, _ now: MonotonicTime) -> [SessionAction] {
        guard case .committing = state else { return [] }
        summary.chunks += 1
        summary.stored += outcome.stored
        summary.duplicates += outcome.duplicates
        summary.conflicts += outcome.conflicts
        summary.keptRaw += outcome.keptRaw
        ackPoint = outcome.ackThrough
        givenUpAt = nil
        probe = nil
        stalls = 0
        emptyStreams = 0
        state = .streaming
        lastActivity = now
        let acks = acknowledge()
        if stopRequested { return acks + close(then: .finish(.stopped)) }
        if windowIsExhausted { return acks + close(then: .reopen) }
        return acks + proceed()
    }

    // MARK: holes

    /// Suspects an earlier ring's unread tail once a stream of this one runs and Info was read after.
    private mutating func askForPredecessors() -> [SessionAction]? {
        guard !predecessors.isEmpty else { return nil }
        guard evidence != nil else { return readInfo(.evidence) }
        bridge.questions += predecessors.map {
            SuspectedGap(ring: $0.ring, firstSeq: $0.nextSeq, lastSeq: nil, cause: .reformatted)
        }
        predecessors = []
        return nil
    }

    /// Nil = bridged or narrowed: look at the same notification again.
    private mutating func hole(before first: UInt32) -> [SessionAction]? {
        if let actions = bridgeWhatIsGone(below: first) { return actions }
        guard expected < first else { return nil }
        guard givenUpAt == expected else {
            return [.note(.hole(at: expected, next: first))] + recordTry(unreadable: false)
        }
        giveUp(through: first - 1)
        return nil
    }

    /// Moves `expected` past what the band no longer has. Non-nil when Info has to be read first.
    private mutating func bridgeWhatIsGone(below limit: UInt32) -> [SessionAction]? {
        if evidence.map({ $0.oldestSeq <= expected }) ?? true, evidenceFor != expected {
            evidenceFor = expected
            return readInfo(.evidence)
        }
        guard let evidence else { return nil }
        let gone = HoleJudge.gone(from: expected, below: limit, info: evidence)
        bridge.questions += gone
        if let end = gone.last?.lastSeq { expected = end.nextSeq }
        return nil
    }

    /// The tries are used up: what is missing is a gap, and the stream goes on behind it.
    private mutating func giveUp(through last: UInt32) {
        guard let info else { return }
        let cause: GapCause = bridge.raw.contains { $0.seq == expected } ? .unreadable : .lostByBand
        bridge.gaps.append(Gap(ring: info.ring, firstSeq: expected, lastSeq: last, cause: cause))
        givenUpAt = nil
        expected = last.nextSeq
    }

    /// Nil = the bytes are kept, look at the next notification.
    private mutating func framingFault(_ fault: DecodingFailure, _ bytes: [UInt8]) -> [SessionAction]? {
        guard givenUpAt == expected else {
            return [.note(.framingFault(at: expected, reason: "\(fault)"))] + recordTry(unreadable: true)
        }
        if bridge.raw.count < rules.rawKept {
            bridge.raw.append(RawNotification(reason: "\(fault)", seq: expected, bytes: bytes))
        }
        takeNotification()
        return nil
    }

    private mutating func recordTry(unreadable: Bool) -> [SessionAction] {
        guard let info else { return [] }
        state = .recordingTry
        return [.recordTry(info.ring, seq: expected, unreadable: unreadable)]
    }

    mutating func tryRecorded(_ attempts: Attempts, _ now: MonotonicTime) -> [SessionAction] {
        guard case .recordingTry = state else { return [] }
        if stopRequested { return close(then: .finish(.stopped)) }
        if attempts.tries >= rules.tries, attempts.connections >= rules.connections {
            givenUpAt = expected
            state = .streaming
            lastActivity = now
            return proceed()
        }
        // The last try has to be on another connection.
        if attempts.tries >= rules.tries - 1, attempts.connections < rules.connections {
            return close(then: .finish(.retryOnNewConnection))
        }
        return close(then: .reopen)
    }

    // MARK: END

    /// Judges an END by its seqs, never by its mere arrival. Duty 4. Nil = go on with the run.
    private mutating func ended(_ end: StreamEnd) -> [SessionAction]? {
        switch end.status {
        case .aborted:
            runIndex += 1  // Of a stream that was aborted before this one.
            return [.note(.lateEnd(lastSeq: end.lastSeq))] + proceed()
        case .internalError:
            internalErrors += 1
            guard internalErrors <= rules.refusals else {
                return finish(.protocolFault("The band ends its streams with an internal error"))
            }
            return openStream()
        case .complete:
            break
        }
        if end.lastSeq < expected - 1 {
            runIndex += 1
            return [.note(.lateEnd(lastSeq: end.lastSeq))] + proceed()
        }
        if end.lastSeq == expected - 1 {
            // Bridges without a record behind them go into a chunk of their own; END is looked at again after.
            if !bridge.isEmpty { return commit([]) }
            runIndex += 1
            return readInfo(.afterEnd)
        }
        return holeAtEnd(through: end.lastSeq)
    }

    private mutating func holeAtEnd(through last: UInt32) -> [SessionAction]? {
        if let actions = bridgeWhatIsGone(below: last.nextSeq) { return actions }
        guard let newest = evidence?.newestSeq, newest >= expected else {
            // Nothing that could be asked for: this END claims more than the band has.
            if !bridge.isEmpty { return commit([]) }
            return readInfo(.afterEnd)
        }
        guard last >= expected else { return nil }
        guard givenUpAt == expected else {
            return [.note(.hole(at: expected, next: last.nextSeq))] + recordTry(unreadable: false)
        }
        giveUp(through: min(last, newest))
        return nil
    }
}
