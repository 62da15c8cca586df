import BandProfile
import GatewayModel

/// What the store promises, in memory and by the simplest means: the reference for session tests.
struct ModelStore {
    struct Key: Hashable {
        var ring: RingID
        var type: UInt8
        var seq: UInt32
    }

    struct Hole: Hashable {
        var ring: RingID
        var seq: UInt32
    }

    var samples: [Key: HistoryRecord] = [:]
    /// How far the server has everything, where acks wait for that.
    var confirmed: UInt32?
    var conflicts: [Key: [HistoryRecord]] = [:]
    var gaps: [Gap] = []
    var questions: [SuspectedGap] = []
    var raw: [RawNotification] = []
    var next: [RingID: UInt32] = [:]
    var attempts: [RingID: Attempts] = [:]
    var attemptConnections: [RingID: Set<Int>] = [:]
    var reformattedNamed: Set<RingID> = []
    /// The last tries at each hole there ever was.
    var tried: [Hole: Attempts] = [:]

    func ackThrough(_ ring: RingID) -> UInt32 {
        let lowest = questions.filter { $0.ring == ring }.map(\.firstSeq).min()
        return min((next[ring] ?? 1) - 1, (lowest ?? .max) - 1, confirmed ?? .max)
    }

    func progress(_ info: RingInfo) -> RingProgress {
        RingProgress(
            nextSeq: next[info.ring] ?? 1, ackThrough: ackThrough(info.ring),
            predecessors: next.keys.filter { $0 != info.ring && !reformattedNamed.contains($0) }.map {
                RingProgress.Predecessor(ring: $0, nextSeq: next[$0] ?? 1)
            })
    }

    mutating func commit(_ chunk: Chunk) -> CommitOutcome {
        var outcome = CommitOutcome(ackThrough: 0, stored: 0, duplicates: 0, conflicts: 0, keptRaw: 0)
        precondition(chunk.coversExactly(after: (next[chunk.ring] ?? 1) - 1), "a chunk leaves nothing out")
        for timed in chunk.records {
            let key = Key(ring: chunk.ring, type: timed.record.type, seq: timed.record.seq)
            if let known = samples[key] {
                if known == timed.record { outcome.duplicates += 1; continue }
                conflicts[key, default: []].append(timed.record)
                outcome.conflicts += 1
            } else {
                samples[key] = timed.record
                outcome.stored += 1
            }
        }
        gaps += chunk.gaps
        raw += chunk.raw
        outcome.keptRaw = chunk.raw.count
        for question in chunk.openQuestions {
            questions.append(question)
            if question.cause == .reformatted { reformattedNamed.insert(question.ring) }
        }
        next[chunk.ring] = chunk.through + 1
        outcome.ackThrough = ackThrough(chunk.ring)
        return outcome
    }

    mutating func recordTry(_ ring: RingID, seq: UInt32, unreadable: Bool, connection: Int) -> Attempts {
        var entry = attempts[ring] ?? Attempts()
        if entry.seq != seq {
            entry = Attempts(seq: seq)
            attemptConnections[ring] = []
        }
        entry.tries += 1
        attemptConnections[ring, default: []].insert(connection)
        entry.connections = attemptConnections[ring]?.count ?? 0
        entry.sawUnreadable = entry.sawUnreadable || unreadable
        attempts[ring] = entry
        tried[Hole(ring: ring, seq: seq)] = entry
        return entry
    }

    /// The server has nothing from anybody else: each question becomes its gap.
    mutating func answerQuestions() {
        for question in questions {
            gaps.append(
                Gap(
                    ring: question.ring, firstSeq: question.firstSeq, lastSeq: question.lastSeq,
                    cause: question.cause))
        }
        questions = []
    }

    func names(_ ring: RingID, _ seq: UInt32) -> Bool {
        gaps.contains { $0.ring == ring && $0.firstSeq <= seq && seq <= ($0.lastSeq ?? .max) }
    }
}
