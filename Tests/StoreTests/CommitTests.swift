import BandProfile
import GatewayModel
import Testing

@testable import Store

@Suite struct CommitTests {
    let fixture: StoreFixture
    let store: Store
    let device = StoreFixture.device

    init() async throws {
        fixture = try StoreFixture()
        store = try await fixture.openWithBand()
    }

    @Test func aChunkIsStoredAndMayBeAckedToItsEnd() async throws {
        let outcome = try await store.commit(chunk(1...15), of: device, clock: reading())
        #expect(
            outcome == CommitOutcome(ackThrough: 15, stored: 15, duplicates: 0, conflicts: 0, keptRaw: 0))
        let samples = try fixture.samples()
        #expect(samples.map(\.seq) == Array(1...15))
        let first = try #require(samples.first)
        let bandTime = Int64(StoreFixture.bandStart + 60) * 1000 + 250
        #expect(
            first
                == Sample(
                    device: device, ring: StoreFixture.ring, type: .heartRate, seq: 1, value: 61,
                    recordedAt: Timestamp(milliseconds: bandTime + StoreFixture.offset), offsetMinutes: 330,
                    version: 1, provenance: .device, bandTimeMilliseconds: bandTime, clockID: 3, flags: 1,
                    timeUncertain: false, timeBoundMilliseconds: 340, offsetSource: .band))
        #expect(try await store.progress(of: device, info: info(1, 15)).nextSeq == 16)
    }

    @Test func repeatedRecordsAreDuplicatesWhateverTheirReservedByte() async throws {
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        var again = (1...5).map { record($0) }
        again[0].reserved = 7
        let outcome = try await store.commit(
            chunk(again + [record(6)], through: 6), of: device, clock: reading())
        #expect(outcome.duplicates == 5)
        #expect(outcome.stored == 1)
        #expect(outcome.conflicts == 0)
    }

    @Test(arguments: ["value", "time", "offset", "flags", "clock"])
    func aRecordThatDiffersIsKeptBesideTheFirstOnce(_ field: String) async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        var other = record(2)
        switch field {
        case "value": other.value += 1
        case "time": other.seconds += 1
        case "offset": other.offsetQuarterHours = HistoryRecord.unknownOffset
        case "flags": other.flags = 3
        default: break
        }
        let clockID: UInt16 = field == "clock" ? 4 : 3
        let second = chunk([other], clockID: clockID, through: 2)
        #expect(try await store.commit(second, of: device, clock: reading()).conflicts == 1)
        #expect(try await store.commit(second, of: device, clock: reading()).duplicates == 1)
        let first = try #require(try fixture.samples().first { $0.seq == 2 })
        #expect(first.value == 62)
        #expect(first.clockID == 3)
        let status = try #require(try await store.bandStatuses().first)
        #expect(status.conflicts == 1)
        #expect(status.stored == 3)
    }

    @Test func anotherTypeUnderAKnownSeqIsStoredAndReported() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        try await store.rewind(device, ring: StoreFixture.ring, to: 1)
        let outcome = try await store.commit(
            chunk([record(1), record(2, type: .steps, value: 9)], through: 2), of: device, clock: reading())
        #expect(outcome.duplicates == 1)
        #expect(outcome.stored == 1)
        #expect(outcome.conflicts == 1)
        #expect(try fixture.samples().count == 4)
    }

    @Test func aRecordWithAContentFaultIsKeptRawAndBlocksNothing() async throws {
        let records = [record(1), faulty(2), record(3)]
        let outcome = try await store.commit(chunk(records, through: 3), of: device, clock: reading())
        #expect(outcome == CommitOutcome(ackThrough: 3, stored: 2, duplicates: 0, conflicts: 0, keptRaw: 1))
        let gaps = try fixture.gaps()
        #expect(gaps.count == 1)
        #expect(gaps.first?.cause == .unreadable)
        #expect(gaps.first?.firstSeq == 2)
        #expect(gaps.first?.lastSeq == 2)
        let samples = try fixture.samples()
        #expect(gaps.first?.after == samples.first?.recordedAt)
        #expect(gaps.first?.before == samples.last?.recordedAt)
        #expect(try await store.bandStatuses().first?.undecodable == 1)
        // Read once more, it is the same.
        let again = try await store.commit(chunk(records, through: 3), of: device, clock: reading())
        #expect(again.keptRaw == 0)
        #expect(try fixture.gaps() == gaps)
    }

    @Test func undecodableBytesAreKeptOnce() async throws {
        let raw = [RawNotification(reason: "invalid version at byte 0", seq: 4, bytes: [9, 9, 9])]
        let given = chunk(
            [record(5)], gaps: [gap(4, 4, .unreadable)], raw: raw, through: 5)
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        #expect(try await store.commit(given, of: device, clock: reading()).keptRaw == 1)
        #expect(try await store.commit(given, of: device, clock: reading()).keptRaw == 0)
    }

    @Test func aChunkThatWouldPassOverAHoleIsRefusedAndNothingOfItIsDone() async throws {
        _ = try await store.commit(chunk(1...3), of: device, clock: reading())
        for bad in [
            chunk(5...6), chunk([record(4)], through: 6), chunk([], through: 4),
            chunk([record(6)], gaps: [gap(5, 5)], through: 6),
            chunk([record(6)], questions: [suspect(4, 4)], through: 6),
            chunk([record(4)], through: .max), chunk([record(4), record(5)], through: 4),
            chunk([record(4), record(4), record(6)], through: 6), chunk([record(5), record(4)], through: 5),
        ] {
            #expect(
                await isStoreError(.refused) {
                    _ = try await store.commit(bad, of: device, clock: reading())
                })
        }
        #expect(try fixture.samples().count == 3)
        #expect(try fixture.gaps().isEmpty)
        #expect(try await store.openQuestions().isEmpty)
        #expect(try await store.commit(chunk(4...6), of: device, clock: reading()).ackThrough == 6)
    }

    @Test func recordsThatStartBelowTheResumePointCountForTheRest() async throws {
        _ = try await store.commit(chunk(1...10), of: device, clock: reading())
        let outcome = try await store.commit(chunk(6...12), of: device, clock: reading())
        #expect(outcome == CommitOutcome(ackThrough: 12, stored: 2, duplicates: 5, conflicts: 0, keptRaw: 0))
        let late = try await store.commit(chunk(3...4), of: device, clock: reading())
        #expect(late.ackThrough == 12)
    }

    @Test func anUnknownDeviceIsRefused() async throws {
        let stranger = try #require(DeviceID("band_X"))
        #expect(
            await isStoreError(.refused) {
                _ = try await store.commit(chunk(1...2), of: stranger, clock: nil)
            })
    }

    @Test func twoBandsWithTheSameRingNumbersStayApart() async throws {
        let other = BluetoothAddress(bits: 0xa0a1_a2a3_a4a5)
        try await store.adopt(
            address: other, device: DeviceID(other), mode: .own, name: nil, configured: false)
        _ = try await store.commit(chunk(1...5), of: device, clock: reading())
        let outcome = try await store.commit(chunk(1...7), of: DeviceID(other), clock: reading())
        #expect(outcome.stored == 7)
        #expect(try fixture.samples().count == 12)
    }

    @Test func theHighestSeqsAndExtremeValuesFit() async throws {
        let last = UInt32.max - 1
        let records = [
            HistoryRecord(
                seq: last, seconds: .max, milliseconds: 999, offsetQuarterHours: -56,
                type: SampleType.steps.rawValue,
                value: .max, flags: 255)
        ]
        let given = chunk(records, gaps: [gap(1, last - 1)], through: last)
        let outcome = try await store.commit(given, of: device, clock: reading())
        #expect(outcome.ackThrough == last)
        #expect(try fixture.samples().first?.seq == last)
        #expect(try fixture.samples().first?.offsetMinutes == -840)
        #expect(try await store.progress(of: device, info: info(1, last)).nextSeq == .max)
    }
}
