import BandProfile
import GatewayModel
import PowercutVFS
import Testing

@testable import Store

/// Every reading, anchor, zone, assignment and correction survives a kill with all that the page cache held: after each call
/// that returned, what the disk holds leads to the same samples as what was never interrupted.
@Suite struct DerivationCrashTests {
    private let device = StoreFixture.device

    @Test(arguments: [1, 2, 3, 4] as [UInt64])
    func whatIsOnTheDiskLeadsToTheSameSamples(_ seed: UInt64) async throws {
        var story = Story(seed: seed)
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        for person in Story.persons {
            _ = try await store.addPerson(Person(id: person, name: person.text))
        }
        for step in 0..<40 {
            let event = story.next()
            try await event(store)
            let image = try fixture.imageAfterPowerCut()
            let restarted = try image.open()
            try await restarted.settle()
            try await store.settle()
            let (expected, found) = (try fixture.samples(), try image.samples())
            #expect(found == expected, "seed \(seed), step \(step)")
            #expect(try image.gaps() == fixture.gaps(), "seed \(seed), step \(step)")
            #expect(
                try image.outbox().pendingCount() == fixture.outbox().pendingCount(),
                "seed \(seed), step \(step)")
            #expect(try image.reader().assignments() == fixture.reader().assignments())
            #expect(try image.reader().persons() == fixture.reader().persons())
        }
        #expect(try fixture.samples().contains { $0.version > 1 })
    }

    /// Shows that the test above can fail.
    @Test func withSynchronousOffItDoesNot() async throws {
        var story = Story(seed: 1)
        let fixture = try StoreFixture()
        powercut_force_off(fixture.directory)
        let store = try await fixture.openWithBand()
        var kept = 0
        for _ in 0..<10 {
            let event = story.next()
            try await event(store)
            let image = try fixture.imageAfterPowerCut()
            if let restarted = try? image.open() {
                try await restarted.settle()
                if try image.samples() == fixture.samples(), try !image.samples().isEmpty { kept += 1 }
            }
        }
        #expect(try kept < 10 && !fixture.samples().isEmpty)
    }
}

/// Random events of a gateway's life, as calls of the store.
private struct Story {
    static let persons = ["p_anna", "p_ben"].compactMap { PersonID($0) }

    private var random: SeededRandom
    private var nextSeq: UInt32 = 1
    private var clock: UInt16 = 3
    private var hours: Int64 = 0
    private var behind = StoreFixture.offset
    private var boot = 0
    private var isTrusted = true

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    mutating func next() -> (Store) async throws -> Void {
        hours += Int64.random(in: 1...5, using: &random)
        let (hours, device) = (hours, StoreFixture.device)
        func time(_ hours: Int64) -> Timestamp {
            Timestamp(milliseconds: TimesTests.start + hours * TimesTests.hour)
        }
        let person = Self.persons[Int.random(in: 0...1, using: &random)]
        let past = Int64.random(in: 0...hours, using: &random)
        let length = Int64.random(in: 1...20, using: &random)
        switch Int.random(in: 0..<10, using: &random) {
        case 0:
            clock += 1
            behind += Int64.random(in: -1_000_000_000...1_000_000_000, using: &random)
            return commit()
        case 1:
            boot += 1
            isTrusted = false
            return commit()
        case 2:
            isTrusted = true
            let stamp = HostStamp(
                bootID: "boot-\(boot)", monotonic: hours * TimesTests.hour, wall: time(hours),
                trust: .synchronised,
                boundMilliseconds: 120)
            return { try await $0.noteHostClock(stamp) }
        case 3:
            let end: Timestamp? = Bool.random(using: &random) ? nil : time(past + length)
            let assignment = Assignment(device: device, person: person, from: time(past), to: end)
            return { _ = try await $0.assign(assignment) }
        case 4:
            return { store in
                let known = try await store.read("look") { try $0.people.assignments() }
                if let first = known.first { _ = try await store.unassign(device, from: first.from) }
            }
        case 5:
            let zone = Bool.random(using: &random) ? "Asia/Kolkata" : "Etc/GMT-1"
            return { _ = try await $0.setZone(ZoneStay(zone: zone, from: time(past)), of: person) }
        case 6:
            let zone = Bool.random(using: &random) ? "Asia/Kolkata" : "Etc/GMT-1"
            return { try await $0.noteHostZone(zone, from: time(hours)) }
        case 7:
            return { try await $0.countHold(milliseconds: 20_000_000) }
        default:
            return commit()
        }
    }

    /// What was measured since, read with the band's clock.
    private mutating func commit() -> (Store) async throws -> Void {
        let last = max(nextSeq, UInt32(hours) * 60 + 1)
        let seqs = last - 59 > nextSeq ? last - 59...last : nextSeq...last
        let hole = nextSeq..<seqs.lowerBound
        nextSeq = last + 1
        let (behind, clock, random) = (behind, clock, Bool.random(using: &random))
        let records = seqs.map { seq in
            var record = record(seq, offset: random ? 22 : HistoryRecord.unknownOffset)
            let time = Int64(record.seconds) * 1000 + StoreFixture.offset - behind
            record.seconds = UInt32(max(0, time / 1000))
            return record
        }
        let reading = TimesTests.reading(
            hours, clock: clock, behind: behind, trust: isTrusted ? .synchronised : .implausible,
            wall: isTrusted ? nil : 77_000 + hours, boot: "boot-\(boot)", bound: isTrusted ? 100 : 0,
            newest: last)
        let gaps =
            hole.isEmpty
            ? []
            : [
                Gap(
                    ring: StoreFixture.ring, firstSeq: hole.lowerBound, lastSeq: hole.upperBound - 1,
                    cause: .lostByBand)
            ]
        let chunk = chunk(records, clockID: clock, gaps: gaps, through: last)
        return { _ = try await $0.commit(chunk, of: StoreFixture.device, clock: reading) }
    }
}
