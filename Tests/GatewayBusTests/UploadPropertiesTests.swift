import BandProfile
import DBus
import GatewayModel
import Testing

@testable import GatewayBus

extension Seeded {
    mutating func ring() -> RingID { RingID(rawValue: .random(in: 1...(.max), using: &self)) }

    mutating func ranges() -> [ClosedRange<UInt32>] {
        (0..<Int.random(in: 0...3, using: &self)).map { _ in
            let first = UInt32.random(in: 0...(.max), using: &self)
            return first...UInt32.random(in: first...(.max), using: &self)
        }
    }

    mutating func kept() -> KeptSamples {
        KeptSamples(
            reason: KeptSamples.Reason.allCases.randomElement(using: &self) ?? .refused, code: text(),
            ring: ring(), count: count(), ranges: ranges(), from: optional { $0.timestamp() },
            to: optional { $0.timestamp() })
    }

    mutating func uploadStatus() -> UploadStatus {
        var status = UploadStatus(
            state: UploadStatus.State.allCases.randomElement(using: &self) ?? .off,
            url: optional { $0.text() })
        status.pending = count()
        status.inFlight = count()
        status.pause = optional { UploadPause(since: $0.timestamp(), until: $0.optional { $0.timestamp() }) }
        status.waitsUntil = optional { $0.timestamp() }
        status.metered =
            [nil, .connection, .hours(until: .random(in: 0..<1440, using: &self))]
            .randomElement(using: &self) ?? nil
        status.lastSuccess = optional { $0.timestamp() }
        status.lastErrorCode = optional { $0.text() }
        status.lastErrorAt = optional { $0.timestamp() }
        status.problem = optional { $0.problem() }
        status.bands = (0..<Int.random(in: 0...2, using: &self)).map { _ in
            let band = band()
            return UploadBand(
                device: band.device, address: band.address, name: band.name, pending: count(),
                kept: (0..<Int.random(in: 0...2, using: &self)).map { _ in kept() })
        }
        return status
    }
}

extension Seeded {
    mutating func difference() -> DayDifference {
        DayDifference(
            day: .random(in: -1...30_000, using: &self), ring: ring(),
            type: SampleType.allCases.randomElement(using: &self) ?? .steps, here: count(), there: count(),
            missing: count(), missingSeqs: ranges(), onlyThere: count(), elsewhere: count(),
            isUnclear: .random(using: &self))
    }

    mutating func reconcileReport() -> ReconcileReport {
        var report = ReconcileReport(device: band().device, isMarked: .random(using: &self))
        report.days = count()
        report.differences = (0..<Int.random(in: 0...2, using: &self)).map { _ in difference() }
        report.differingDays = count()
        report.missing = count()
        report.onlyThere = count()
        report.expired = count()
        report.expiredDays = optional { -5...Int64.random(in: -5...30_000, using: &$0) }
        report.waiting = count()
        report.kept = count()
        report.problem = optional { $0.problem() }
        return report
    }
}

@Suite struct UploadPropertiesTests {
    @Test(arguments: UInt64(0)..<100) func aTakeoverComesBackAsItWas(_ seed: UInt64) {
        var generator = Seeded(seed: seed)
        let band = generator.band()
        let known = ServerBand(
            device: band.device, address: generator.optional { _ in band.address },
            lastContact: band.lastContact, lastRecordedAt: band.newestRecordedAt, samples: generator.count(),
            mode: generator.optional { _ in band.mode }, lease: band.lease)
        #expect(ServerBand(known.properties) == known, "seed \(seed)")
        var report = ReplaceReport(
            device: band.device, address: generator.optional { _ in band.address },
            outcome: ReplaceReport.Outcome.allCases.randomElement(using: &generator) ?? .refused)
        report.rings = (0..<Int.random(in: 0...2, using: &generator)).map { _ in
            .init(
                ring: generator.ring(),
                completeThrough: generator.optional { .random(in: 0...(.max), using: &$0) },
                nextSeq: .random(in: 0...(.max), using: &generator))
        }
        report.maxVersion = generator.count()
        report.gaps = generator.count()
        report.persons = generator.count()
        report.wearer = PersonID("p_1").flatMap { person in
            generator.optional { .init(person: person, name: $0.text(), until: $0.timestamp()) }
        }
        report.lease = band.lease
        report.problem = generator.optional { $0.problem() }
        #expect(ReplaceReport(report.properties) == report, "seed \(seed)")
    }

    @Test(arguments: UInt64(0)..<100) func aComparisonComesBackAsItWas(_ seed: UInt64) {
        var generator = Seeded(seed: seed)
        let report = generator.reconcileReport()
        #expect(ReconcileReport(report.properties) == report, "seed \(seed)")
        let progress = ReconcileProgress(
            device: report.device, done: generator.count(), total: generator.count())
        #expect(ReconcileProgress(progress.properties) == progress)
    }

    @Test(arguments: UInt64(0)..<100) func anUploadComesBackAsItWas(_ seed: UInt64) {
        var generator = Seeded(seed: seed)
        let status = generator.uploadStatus()
        #expect(UploadStatus(status.properties) == status, "seed \(seed)")
        let report = UploadReport(
            sent: generator.count(), left: generator.count(), problem: generator.optional { $0.problem() },
            waitsUntil: generator.optional { $0.timestamp() }, isCut: .random(using: &generator))
        #expect(UploadReport(report.properties) == report, "seed \(seed)")
    }

    @Test func whatIsNoRangeIsLeftOut() {
        let pair = { (first: UInt32, last: UInt32) in BusValue.structure([.uint32(first), .uint32(last)]) }
        let values: [BusValue] = [pair(3, 4), pair(5, 4), .structure([.uint32(1)]), .string("7")]
        let properties: BusProperties = ["Ranges": .array(element: "(uu)", values)]
        #expect(properties.ranges("Ranges") == [3...4] && properties.ranges("Other").isEmpty)
    }
}
