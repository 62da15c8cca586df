import BandModel
import BandProfile
import GatewayModel
import HistorySync
import Testing

/// Whatever a band does, each recorded sample ends in the store once or in a gap, and no ack is ahead of the store.
struct EveryFaultTests {
    static let scripts = [
        "", "drop:0.05", "duplicate:0.1", "truncate:0.03", "badversion:0.03", "badkind:0.03", "badorder:0.03",
        "reorder:0.05", "empty:0.05", "disconnect:0.05", "stall:0.02", "noend", "noend:0.5", "lateend:0.5",
        "lostack:0.5", "overwrite@5:50", "reformat@7", "rollback@9:40", "clockstep@6", "unreadable=100",
        "absent=77", "badtype:0.01", "badms:0.01", "badoffset:0.01", "badvalue:0.01",
        "drop:0.02,duplicate:0.02,truncate:0.02,reorder:0.02,disconnect:0.02,lostack:0.2,overwrite@11:20",
        "rollback@6:60,disconnect:0.05,drop:0.03", "reformat@6:40,stall:0.03,lateend:0.4",
        "unreadable=100,unreadable=250,drop:0.1", "absent=77,absent=78,drop:0.1",
    ]

    @Test(arguments: scripts)
    func everySampleIsStoredOnceOrNamed(script: String) throws {
        for seed in UInt64(1)...12 {
            try check(script, seed: seed, window: [0, 1, 7, 64][Int(seed % 4)], mode: .own)
        }
    }

    // Not in the attribute: Swift 6.0.3 crashes on a closure there.
    static let withoutLostAcks = scripts.filter { !$0.contains("lostack") }

    @Test(arguments: withoutLostAcks)
    func anObserverStoresAllAndNeverAcks(script: String) throws {
        for seed in UInt64(20)...24 {
            try check(script, seed: seed, window: [0, 3, 64][Int(seed % 3)], mode: .observe)
        }
    }

    /// Faults that delay a record or repeat it, but never take it away.
    static let lossless = [
        "", "duplicate:0.2", "lostack:0.5", "noend", "lateend:0.5", "lateend", "disconnect:0.1", "stall:0.05",
        "duplicate:0.1,disconnect:0.05,stall:0.03,lostack:0.3,noend:0.3,lateend:0.3,clockstep@6",
    ]

    @Test(arguments: lossless)
    func whereNothingIsLostThereIsNoGap(script: String) throws {
        for seed in UInt64(40)...51 {
            let store = try check(script, seed: seed, window: [0, 1, 2, 64][Int(seed % 4)], mode: .own)
            #expect(store.gaps.isEmpty, "script \(script), seed \(seed)")
        }
    }

    @discardableResult
    private func check(_ script: String, seed: UInt64, window: UInt16, mode: BandMode) throws -> ModelStore {
        var options = SimulatedBandOptions(
            seed: seed, records: 400, window: window, faults: try FaultScript(script))
        options.capacity = 5_000
        var band = SimulatedBand(options, now: 1_000_000)
        var store = ModelStore()
        var connection = SimulatedConnection(mode: mode, mtu: seed % 3 == 0 ? 23 : 247)
        var random = seed
        var quiet = 0
        for round in 1...2_000 {
            random = random &* 6_364_136_223_846_793_005 &+ 1
            connection.killAfter = (random >> 33) % 3 == 0 ? Int((random >> 40) % 60) : nil
            let end = connection.run(
                &band, &store, connection: round, takenOver: connection.killAfter == nil && band.isLinked)
            store.answerQuestions()
            if round < 20 { band.record(7, now: 1_000_000 + Int64(round) * 10_000) }
            quiet = end == .caughtUp && round >= 20 ? quiet + 1 : 0
            if quiet == 2 { break }
        }
        let label: Comment = "script \(script), seed \(seed), window \(window)"
        #expect(quiet == 2, label)
        let ackWasAhead = connection.ackAheadOfStore
        #expect(!ackWasAhead, label)
        let ackCount = connection.acks.count
        if mode == .observe { #expect(ackCount == 0, label) }
        for sample in band.everRecorded {
            let key = ModelStore.Key(
                ring: sample.ring, type: sample.record.type, seq: sample.record.seq)
            let isStored =
                store.samples[key] == sample.record || store.conflicts[key]?.contains(sample.record) == true
            let isLost = band.losses.contains {
                $0.ring == sample.ring.rawValue && $0.generation == sample.generation
                    && ($0.firstSeq...$0.lastSeq).contains(sample.record.seq)
            }
            // What the band itself rolled back before it was sent can't be told from what replaced it.
            let isNamed =
                store.names(sample.ring, sample.record.seq) || (isLost && script.contains("rollback"))
            let isAccountedFor = isStored || isNamed
            #expect(isAccountedFor, "\(label): seq \(sample.record.seq) of ring \(sample.ring)")
        }
        checkGaps(store, band, script: script, label)
        return store
    }

    /// A gap names what the band lost, what it never delivers, the notification that can't be read, or what was
    /// asked for often enough; nothing that is stored.
    private func checkGaps(_ store: ModelStore, _ band: SimulatedBand, script: String, _ label: Comment) {
        let strays = ["drop", "truncate", "bad", "reorder", "empty"].contains { script.contains($0) }
        for gap in store.gaps {
            let recorded = band.everRecorded.filter {
                $0.ring == gap.ring && gap.firstSeq <= $0.record.seq && $0.record.seq <= gap.lastSeq ?? .max
            }
            let isTried = store.tried[ModelStore.Hole(ring: gap.ring, seq: gap.firstSeq)].map {
                $0.tries >= 3 && $0.connections >= 2
            }
            for sample in recorded {
                let seq = sample.record.seq
                let isLost = band.losses.contains {
                    $0.ring == sample.ring.rawValue && ($0.firstSeq...$0.lastSeq).contains(seq)
                }
                let isExcused =
                    switch gap.cause {
                    case .overwritten, .reformatted, .freedElsewhere, .storageLost: isLost
                    case .lostByBand: isTried == true && (strays || band.isUndeliverable(seq))
                    case .unreadable:
                        isTried == true
                            && (strays
                                || ((max(seq, 15) - 14)...seq + 14).contains(where: band.isUndeliverable))
                    }
                #expect(isExcused, "\(label): \(gap.cause) gap names seq \(seq)")
                let key = ModelStore.Key(ring: sample.ring, type: sample.record.type, seq: seq)
                #expect(store.samples[key] == nil, "\(label): seq \(seq) is stored and in a gap")
            }
        }
    }
}
