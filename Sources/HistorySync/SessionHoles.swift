import BandProfile
import GatewayModel

/// What is missing or can't be read: asked for again, and in the end a gap. Duties 4 and 7.
extension HistorySession {
    /// What stayed missing at one seq, in each stream of this connection that got past it.
    ///
    /// Two faults side by side look like one larger hole. Only what no stream brought may become a gap: an ack
    /// that passes a gap frees what it names.
    struct HoleView: Equatable {
        let at: UInt32
        /// The lowest seq seen behind the hole.
        var next: UInt32
        var streams = 0
        var lastStream = 0

        mutating func saw(_ next: UInt32, stream: Int) {
            self.next = min(self.next, next)
            guard stream != lastStream else { return }
            streams += 1
            lastStream = stream
        }
    }

    /// Suspects an earlier ring's unread tail once a stream of this one runs and Info was read after.
    mutating func askForPredecessors() -> [SessionAction]? {
        guard !predecessors.isEmpty else { return nil }
        guard evidence != nil else { return readInfo(.evidence) }
        bridge.questions += predecessors.map {
            SuspectedGap(ring: $0.ring, firstSeq: $0.nextSeq, lastSeq: nil, cause: .reformatted)
        }
        predecessors = []
        return nil
    }

    /// Nil = bridged, narrowed or put aside: go on with the run.
    mutating func hole(before first: UInt32, last: UInt32, _ bytes: [UInt8]) -> [SessionAction]? {
        if let actions = bridgeWhatIsGone(below: first) { return actions }
        guard expected < first else { return nil }
        guard evidenceFor == expected, let newest = evidence?.newestSeq else { return readEvidence() }
        // Info was read after these records came: a band can't have sent what it did not hold by then.
        if last > newest { return framingFault(.invalid(field: "seq", at: BandHistory.headerSize), bytes) }
        return missing(before: first)
    }

    /// Moves `expected` past what the band no longer has. Non-nil when Info has to be read first.
    private mutating func bridgeWhatIsGone(below limit: UInt32) -> [SessionAction]? {
        if evidence.map({ $0.oldestSeq <= expected }) ?? true, evidenceFor != expected {
            return readEvidence()
        }
        guard let evidence else { return nil }
        let gone = HoleJudge.gone(from: expected, below: limit, info: evidence)
        bridge.questions += gone
        if let end = gone.last?.lastSeq { expected = end.nextSeq }
        return nil
    }

    private mutating func readEvidence() -> [SessionAction] {
        evidenceFor = expected
        return readInfo(.evidence)
    }

    /// The band has what lies between `expected` and `next`, and did not send it. Nil = given up.
    private mutating func missing(before next: UInt32) -> [SessionAction]? {
        var view = holeView ?? HoleView(at: expected, next: next)
        if view.at != expected { view = HoleView(at: expected, next: next) }
        view.saw(next, stream: summary.streams)
        holeView = view
        guard givenUpAt == expected else {
            return tryAgain(.hole(at: expected, next: next), unreadable: false)
        }
        guard view.next == expected.nextSeq || view.streams >= rules.tries else {
            return close(then: .reopen)
        }
        giveUp(through: view.next - 1)
        return nil
    }

    /// The tries are used up: what is missing is a gap, and the stream goes on behind it.
    private mutating func giveUp(through last: UInt32) {
        guard let info else { return }
        let cause: GapCause = unreadableAt == expected ? .unreadable : .lostByBand
        bridge.gaps.append(Gap(ring: info.ring, firstSeq: expected, lastSeq: last, cause: cause))
        notes.append(.gaveUp(first: expected, last: last, cause: cause))
        givenUpAt = nil
        expected = last.nextSeq
    }

    /// Nil = the bytes are kept, look at the next notification.
    mutating func framingFault(_ fault: DecodingFailure, _ bytes: [UInt8]) -> [SessionAction]? {
        guard givenUpAt == expected else {
            return tryAgain(.framingFault(at: expected, reason: "\(fault)"), unreadable: true)
        }
        let raw = RawNotification(reason: "\(fault)", seq: expected, bytes: bytes)
        if !bridge.raw.contains(raw) { bridge.raw.append(raw) }
        unreadableAt = expected
        takeNotification()
        // All of them are kept before the ack that frees them: a whole history may be unreadable here.
        return bridge.raw.count >= rules.rawPerChunk ? commit([]) : nil
    }

    // MARK: tries

    private mutating func tryAgain(_ note: SessionNote, unreadable: Bool) -> [SessionAction] {
        guard let info else { return [] }
        // What is bridged already does not wait for what may fail again.
        guard bridge.isEmpty else { return commit([]) }
        notes.append(note)
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
    mutating func ended(_ end: StreamEnd) -> [SessionAction]? {
        switch end.status {
        case .aborted:
            skipLateEnd(end)
            return nil
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
            skipLateEnd(end)
            return nil
        }
        if end.lastSeq == expected - 1 {
            // Bridges without a record behind them go into a chunk of their own; END is looked at again after.
            if !bridge.isEmpty { return commit([]) }
            runIndex += 1
            return readInfo(.afterEnd)
        }
        return holeAtEnd(through: end.lastSeq)
    }

    /// It belongs to a stream before this one. One note for a row of them is enough.
    private mutating func skipLateEnd(_ end: StreamEnd) {
        runIndex += 1
        if case .lateEnd? = notes.last { return }
        notes.append(.lateEnd(lastSeq: end.lastSeq))
    }

    private mutating func holeAtEnd(through last: UInt32) -> [SessionAction]? {
        if let actions = bridgeWhatIsGone(below: last.nextSeq) { return actions }
        guard let newest = evidence?.newestSeq, newest >= expected else {
            // Nothing that could be asked for: this END claims more than the band has.
            if !bridge.isEmpty { return commit([]) }
            return readInfo(.afterEnd)
        }
        guard last >= expected else { return nil }
        return missing(before: min(last, newest).nextSeq)
    }
}
