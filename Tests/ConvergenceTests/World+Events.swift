import BandProfile
import GatewayModel
import Store

extension World {
    // MARK: events

    mutating func step() async throws {
        let gateway = random.pick(gateways)
        switch Int.random(in: 0..<100, using: &random) {
        case 0..<18: record()
        case 18..<44:
            try await sync(gateway, share: random.chance(70) ? 100 : Int.random(in: 0...100, using: &random))
        case 44..<70: try await upload(gateway)
        case 70..<75: try await moveClock(of: gateway)
        case 75..<82: try await assign(gateway)
        case 82..<86: try await zone(gateway)
        case 86..<88: try await hostZone(gateway)
        case 88..<90: try await correct(gateway)
        case 90..<91: try backUp(gateway)
        case 91..<94: try await crash(gateway)
        case 94..<96: try await killServer()
        case 96..<97: await replay()
        case 97..<98: stepBandClock()
        default: try await hold(gateway)
        }
    }

    mutating func note(_ text: String) { story.append("\(story.count): \(text)") }

    private mutating func record() {
        let count =
            random.chance(20)
            ? Int.random(in: 1...200, using: &random) : Int.random(in: 1...20, using: &random)
        time.advance(Int64(count) * Self.interval)
        band.record(count, now: time.now)
        note("\(count) records")
    }

    private mutating func stepBandClock() {
        band.stepClock(by: Int64.random(in: -30 * Self.day...30 * Self.day, using: &random), now: time.now)
        note("the band's clock is stepped")
    }

    /// Reads the clock and so much of what is new, percent.
    mutating func sync(_ gateway: SimulatedGateway, share: Int) async throws {
        let info = band.info()
        let progress = try await gateway.store.progress(of: SimulatedGateway.device, info: info)
        var records: [TimedRecord] = []
        band.forEachRecorded { recorded in
            guard recorded.record.seq >= progress.nextSeq else { return }
            var record = recorded.record
            // Now and then the band does not know where it is.
            if record.seq % 7 == 0 { record.offsetQuarterHours = HistoryRecord.unknownOffset }
            records.append(TimedRecord(record: record, clockID: recorded.clockID))
        }
        records = Array(records.prefix(records.count * share / 100))
        let reading = readClock(info, gateway.host)
        let size = Int.random(in: 5...60, using: &random)
        for start in stride(from: 0, to: max(1, records.count), by: size) {
            let part = Array(records[min(start, records.count)..<min(records.count, start + size)])
            _ = try await gateway.store.commit(
                Chunk(ring: info.ring, records: part, through: part.last?.record.seq ?? progress.nextSeq - 1),
                of: SimulatedGateway.device, clock: reading)
        }
        try await gateway.store.noteContact(
            SimulatedGateway.device, ContactNote(time: gateway.host.stamp(at: time.now).wall, info: info))
        try await gateway.store.settle()
        note("\(gateway.name) reads \(records.count) records, trust \(reading.hostTrust)")
    }

    private mutating func readClock(_ info: RingInfo, _ host: SimulatedHost) -> ClockReading {
        let trip = Int64.random(in: 20...400, using: &random)
        let clock = band.clock(now: time.now + Int64.random(in: 0...trip, using: &random))
        let after = host.stamp(at: time.now + trip)
        return ClockReading(
            clockID: clock.clockID, bandTimeMilliseconds: clock.timeMilliseconds,
            hostTime: Timestamp(milliseconds: after.wall.milliseconds - trip / 2),
            hostMonotonicMilliseconds: after.monotonic - trip / 2, bootID: after.bootID,
            boundMilliseconds: Int(trip / 2 + 1), bandSecondsSinceBoot: clock.secondsSinceBoot,
            hostTrust: after.trust, hostBoundMilliseconds: after.boundMilliseconds, newestSeq: info.newestSeq,
            newestAgeMilliseconds: 50)
    }

    private mutating func upload(_ gateway: SimulatedGateway) async throws {
        let faults = Locked(SeededRandom(seed: random.next()))
        let isBad = random.chance(40)
        server.fault = {
            guard isBad else { return .none }
            return faults.change { random in
                switch Int.random(in: 0..<20, using: &random) {
                case 0...1: .requestLost
                case 2...4: .answerLost
                case 5...6: .doubled
                case 7: .unavailable
                case 8: .killed
                default: .none
                }
            }
        }
        let steps = Int.random(in: 1...40, using: &random)
        let hours = random.chance(20) ? 14 : 0
        try await gateway.upload(steps: steps, passing: .seconds(Int64(hours) * 3600))
        server.fault = { .none }
        note("\(gateway.name) uploads \(steps) steps\(isBad ? " over a bad network" : "")")
    }

    private mutating func moveClock(of gateway: SimulatedGateway) async throws {
        let trust: HostTrust = random.pick([.plausible, .synchronised, .synchronised])
        guard trust > gateway.host.stamp(at: time.now).trust else { return }
        var random = random
        try await gateway.change { $0.become(trust, random: &random) }
        self.random = random
        note("the clock of \(gateway.name) is \(trust)")
    }

    private mutating func someTime() -> Timestamp {
        Timestamp(milliseconds: time.now - Int64.random(in: 0...3 * Self.day, using: &random))
    }

    private mutating func assign(_ gateway: SimulatedGateway) async throws {
        let store = gateway.store
        let known = try gateway.assignments()
        if let old = known.randomElement(using: &random), random.chance(40) {
            if random.chance(50) {
                _ = try await store.unassign(SimulatedGateway.device, from: old.from)
                note("\(gateway.name) takes back \(old.person) from \(old.from.milliseconds)")
            } else {
                var changed = old
                let length = Int64.random(in: 1...Self.day, using: &random)
                changed.to = Timestamp(milliseconds: old.from.milliseconds + length)
                let outcome = try await store.assign(changed)
                note("\(gateway.name) ends \(old.person) from \(old.from.milliseconds): \(outcome)")
            }
        } else {
            let from = someTime()
            let isOpen = random.chance(50)
            let length = Int64.random(in: 1...2 * Self.day, using: &random)
            let assignment = Assignment(
                device: SimulatedGateway.device, person: random.pick(Self.persons), from: from,
                to: isOpen ? nil : Timestamp(milliseconds: from.milliseconds + length))
            let outcome = try await store.assign(assignment)
            note("\(gateway.name) assigns \(assignment.person) from \(from.milliseconds): \(outcome)")
        }
        try await store.settle()
    }

    private mutating func zone(_ gateway: SimulatedGateway) async throws {
        guard let person = try await gateway.store.persons().randomElement(using: &random) else { return }
        if let stay = person.zones.randomElement(using: &random), random.chance(30) {
            _ = try await gateway.store.removeZone(from: stay.from, of: person.id)
            note("\(gateway.name) removes a zone of \(person.id)")
        } else {
            let stay = ZoneStay(zone: "T/\(random.pick([-300, 0, 60, 330]))", from: someTime())
            _ = try await gateway.store.setZone(stay, of: person.id)
            note("\(gateway.name) sets \(stay.zone) for \(person.id)")
        }
        try await gateway.store.settle()
    }

    private mutating func hostZone(_ gateway: SimulatedGateway) async throws {
        let zone = "H/\(random.pick([0, 60, 330]))"
        try await gateway.store.noteHostZone(zone, from: Timestamp(milliseconds: time.now))
        try await gateway.store.settle()
        note("\(gateway.name) is in \(zone)")
    }

    /// A change that nothing derives.
    private mutating func correct(_ gateway: SimulatedGateway) async throws {
        let first = UInt32.random(in: 1...max(1, band.info().newestSeq), using: &random)
        let count = try await gateway.store.correct(
            SimulatedGateway.device, ring: band.ring, first...(first + 15)
        ) {
            fields, _ in
            guard fields.offsetSource != .band else { return }
            fields.offsetQuarterHours = 13
            fields.offsetSource = .host
        }
        note("\(gateway.name) corrects \(count) from \(first)")
    }

    private mutating func backUp(_ gateway: SimulatedGateway) throws {
        try gateway.backUp()
        note("the card of \(gateway.name) is copied")
    }

    private mutating func crash(_ gateway: SimulatedGateway) async throws {
        boots += 1
        let trust: HostTrust = random.pick([.implausible, .plausible, .synchronised])
        let fromBackup = random.chance(30)
        isRestored = isRestored || fromBackup
        try gateway.crash(
            host: SimulatedHost(boot: boots, name: gateway.name, at: time.now, trust: trust, random: &random),
            fromBackup: fromBackup)
        try await gateway.change { _ in }
        note("\(gateway.name) crashes and boots \(trust)\(fromBackup ? " from an old card" : "")")
    }

    private mutating func killServer() async throws {
        try await server.kill()
        note("the server is killed")
    }

    private mutating func replay() async {
        guard !server.arrived.isEmpty else { return }
        let index = Int.random(in: 0..<server.arrived.count, using: &random)
        await server.replay(index)
        note("batch \(index) arrives once more")
    }

    private mutating func hold(_ gateway: SimulatedGateway) async throws {
        try await gateway.store.countHold(milliseconds: Self.day / 2)
        note("\(gateway.name) waited half a day")
    }
}
