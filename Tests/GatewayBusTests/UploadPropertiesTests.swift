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

@Suite struct UploadPropertiesTests {
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
