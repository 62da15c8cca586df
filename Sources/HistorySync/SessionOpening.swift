import BandProfile
import GatewayModel

/// From the link coming up to an open stream.
extension HistorySession {
    mutating func readInfo(_ purpose: InfoPurpose) -> [SessionAction] {
        state = .readingInfo(purpose)
        return [.readInfo]
    }

    mutating func infoRead(_ bytes: [UInt8], _ now: MonotonicTime) -> [SessionAction] {
        guard case .readingInfo(let purpose) = state else { return [] }
        var fresh: RingInfo
        do {
            fresh = try RingInfo(decoding: bytes)
        } catch {
            return finish(.protocolFault("The band's Info is not readable: \(error)"))
        }
        // No record carries the last number, which has no successor.
        fresh.newestSeq = min(fresh.newestSeq, .max - 1)
        // A band drops every link before it formats its ring. Band History Profile 1, "Info".
        if let known = info, known.ring != fresh.ring { return finish(.ringChanged) }
        info = fresh
        switch purpose {
        case .start:
            state = .loadingProgress
            return [.loadProgress(fresh)]
        case .reopen:
            guard fresh.newestSeq.nextSeq == expected else { return openUnlessRolledBack(fresh) }
            if !bridge.isEmpty { return commit([]) }
            return (summary.streams == 0 ? repeatAck() : acknowledge()) + finish(.caughtUp)
        case .evidence:
            evidence = fresh
            state = .streaming
            lastActivity = now
            return proceed()
        case .afterEnd:
            evidence = fresh
            if fresh.newestSeq.nextSeq == expected { return acknowledge() + finish(.caughtUp) }
            guard emptyStreams < rules.refusals else {
                return finish(.protocolFault("The band ends its streams before its newest record"))
            }
            return openUnlessRolledBack(fresh)
        }
    }

    mutating func progressLoaded(_ progress: RingProgress) -> [SessionAction] {
        guard case .loadingProgress = state, let info else { return [] }
        expected = max(1, progress.nextSeq)
        durableThrough = expected - 1
        ackPoint = min(progress.ackThrough, durableThrough)
        predecessors = progress.predecessors
        if isRolledBack(info) { return rewind(to: info.oldestSeq, then: .clock) }
        return readClock(.subscribe)
    }

    /// The band shows less than was committed from this very ring: nothing is known by its number alone.
    private func isRolledBack(_ info: RingInfo) -> Bool { info.newestSeq < expected - 1 }

    private mutating func openUnlessRolledBack(_ info: RingInfo) -> [SessionAction] {
        isRolledBack(info) ? rewind(to: info.oldestSeq, then: .open) : openStream()
    }

    private mutating func rewind(to seq: UInt32, then next: BeforeStream) -> [SessionAction] {
        guard let info else { return [] }
        state = .rewinding(next)
        durableThrough = min(durableThrough, seq - 1)
        ackPoint = min(ackPoint, durableThrough)
        return [
            .note(.ringRolledBack(committed: expected - 1, newest: info.newestSeq)),
            .rewind(info.ring, to: seq),
        ]
    }

    mutating func rewound() -> [SessionAction] {
        guard case .rewinding(let next) = state, let info else { return [] }
        expected = info.oldestSeq
        lastAcked = 0
        // What was found out about seqs before counts no more.
        bridge = Bridge()
        holeView = nil
        givenUpAt = nil
        unreadableAt = nil
        return next == .clock ? readClock(.subscribe) : openStream()
    }

    mutating func readClock(_ next: AfterClock) -> [SessionAction] {
        state = .readingClock(next)
        return [.readClock]
    }

    mutating func clockRead(_ reading: ClockReading?, _ now: MonotonicTime) -> [SessionAction] {
        guard case .readingClock(let next) = state else { return [] }
        if let reading {
            clock = reading
            clocksTried.insert(reading.clockID)
        }
        switch next {
        case .subscribe:
            state = .subscribing
            return [.subscribe]
        case .resume:
            state = .streaming
            lastActivity = now
            return proceed()
        }
    }

    mutating func subscribed() -> [SessionAction] {
        guard case .subscribing = state else { return [] }
        // The stream of a killed predecessor may still run: ABORT, drain, Info again.
        if isTakenOver {
            isTakenOver = false
            return close(then: .readInfo)
        }
        return openStream()
    }

    mutating func openStream() -> [SessionAction] {
        let again = summary.streams == 0 ? repeatAck() : acknowledge()
        summary.streams += 1
        state = .opening
        emptyStreams += 1
        evidence = nil
        evidenceFor = nil
        outstanding = 0
        run = []
        runIndex = 0
        return again + [.write(.sendFrom(givenUpAt == expected ? probe ?? expected : expected))]
    }

    mutating func controlPointAnswered(_ error: ControlPointError?, _ now: MonotonicTime) -> [SessionAction] {
        switch state {
        case .opening:
            return streamAnswered(error, now)
        case .aborting(let next):
            // Whatever the answer, no stream of this link can outlive it by more than the wait for END.
            if endIsInRun { return closed(next) }
            let wait = summary.streams == 0 ? rules.takeoverDrainMilliseconds : rules.endMilliseconds
            state = .awaitingEnd(next, until: now + wait)
            return []
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .streaming,
            .committing, .recordingTry, .awaitingEnd, .finished:
            return []
        }
    }

    private mutating func streamAnswered(_ error: ControlPointError?, _ now: MonotonicTime) -> [SessionAction]
    {
        if stopRequested { return error == nil ? close(then: .finish(.stopped)) : finish(.stopped) }
        switch error {
        case nil:
            state = .streaming
            lastActivity = now
            silenceWasAnswered = false
            return []
        case .busy:
            busyRefusals += 1
            guard busyRefusals <= rules.refusals else {
                return finish(.protocolFault("The band says that a stream runs, and does not stop it"))
            }
            return close(then: .reopen)
        case .notificationsNotEnabled:
            lostSubscriptions += 1
            guard lostSubscriptions <= rules.refusals else {
                return finish(.protocolFault("The band does not see that its notifications are enabled"))
            }
            state = .subscribing
            return [.subscribe]
        case .unknownOpcode, .wrongLength:
            return finish(.protocolFault("The band does not know SEND FROM"))
        }
    }

    // MARK: closing

    mutating func close(then next: AfterClose) -> [SessionAction] {
        state = .aborting(next)
        return [.write(.abort)]
    }

    /// The stream's END came before the ABORT that was to bring it.
    private var endIsInRun: Bool { run[runIndex...].contains(where: isEnd) }

    mutating func closed(_ next: AfterClose) -> [SessionAction] {
        if stopRequested { return finish(.stopped) }
        switch next {
        case .reopen: return openStream()
        case .readInfo: return readInfo(.reopen)
        case .finish(let end): return finish(end)
        }
    }
}
