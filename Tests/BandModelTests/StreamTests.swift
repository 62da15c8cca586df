import BandModel
import BandProfile
import Testing

/// True time "now" in these tests: 2026-01-01T00:00:00Z.
let now: Int64 = 1_767_225_600_000

func band(
    records: Int = 100, window: UInt16 = 0, faults: String = "", mtu: Int = 247,
    _ change: (inout SimulatedBandOptions) -> Void = { _ in }
) throws -> SimulatedBand {
    var options = SimulatedBandOptions(
        seed: 7, records: records, window: window, faults: try FaultScript(faults))
    change(&options)
    var band = SimulatedBand(options, now: now)
    band.linkUp(mtu: mtu)
    band.enableNotifications(true)
    return band
}

extension SimulatedBand {
    mutating func sendFrom(_ seq: UInt32) -> ControlPointError? {
        writeControlPoint(ControlPointCommand.sendFrom(seq).encoded)
    }

    /// Everything that comes now, decoded.
    mutating func drain() throws -> (records: [HistoryRecord], ends: [StreamEnd]) {
        var records: [HistoryRecord] = []
        var ends: [StreamEnd] = []
        for bytes in nextNotifications(max: 100_000) {
            switch try HistoryNotification(decoding: bytes) {
            case .samples(_, let some): records += some
            case .end(let end): ends.append(end)
            }
        }
        return (records, ends)
    }
}

@Suite struct StreamTests {
    @Test func aStreamIsEveryStoredRecordInOrderAndThenEnd() throws {
        var band = try band()
        #expect(band.sendFrom(1) == nil)
        let (records, ends) = try band.drain()
        #expect(records.map(\.seq) == Array(1...100))
        #expect(ends == [StreamEnd(lastSeq: 100, oldestSeq: 1, status: .complete, clockID: 1)])
        #expect(records == band.everRecorded.map(\.record))
        #expect(records.allSatisfy { $0.contentFault == nil })
    }

    @Test func aHistoryMixesAllFourTypes() throws {
        let band = try band(records: 1_000)
        #expect(Set(band.everRecorded.map(\.record.type)) == [1, 2, 3, 4])
    }

    @Test(arguments: [(23, 1), (38, 1), (39, 2), (185, 11), (247, 15), (517, 15)])
    func anMTUCarriesSoManyRecordsANotification(mtu: Int, count: Int) throws {
        var band = try band(mtu: mtu)
        _ = band.sendFrom(1)
        #expect(band.nextNotifications(max: 1).map(\.count) == [4 + 16 * count])
    }

    @Test func nothingIsStreamedBeforeSendFrom() throws {
        var band = try band()
        #expect(band.nextNotifications(max: 10).isEmpty)
    }

    @Test(
        arguments: [
            ([0x01, 1, 0, 0], ControlPointError.wrongLength), ([0x01, 1, 0, 0, 0, 0], .wrongLength),
            ([0x02, 0], .wrongLength), ([], .wrongLength), ([0x03], .unknownOpcode), ([0], .unknownOpcode),
        ] as [([UInt8], ControlPointError)])
    func aBadControlPointWriteFails(bytes: [UInt8], error: ControlPointError) throws {
        var band = try band()
        #expect(band.writeControlPoint(bytes) == error)
    }

    @Test func aSecondStreamOnOneLinkIsBusy() throws {
        var band = try band()
        #expect(band.sendFrom(1) == nil)
        #expect(band.sendFrom(1) == .busy)
        _ = try band.drain()
        #expect(band.sendFrom(1) == nil)
    }

    @Test func sendFromNeedsNotifications() throws {
        var band = try band()
        band.enableNotifications(false)
        #expect(band.sendFrom(1) == .notificationsNotEnabled)
    }

    @Test func fromBelowTheOldestStartsAtTheOldest() throws {
        var band = try band { $0.capacity = 40 }
        _ = band.sendFrom(1)
        #expect(try band.drain().records.map(\.seq) == Array(61...100))
    }

    @Test(arguments: [101, 5_000, UInt32.max]) func aboveTheNewestGetsEndAtOnce(from: UInt32) throws {
        var band = try band()
        #expect(band.sendFrom(from) == nil)
        let (records, ends) = try band.drain()
        #expect(records.isEmpty)
        #expect(ends.map(\.lastSeq) == [100])
    }

    @Test func anEmptyRingEndsAtItsNewest() throws {
        var band = try band(records: 0)
        #expect(band.info().isEmpty)
        _ = band.sendFrom(1)
        #expect(try band.drain().ends == [StreamEnd(lastSeq: 0, oldestSeq: 1, status: .complete, clockID: 1)])
    }

    @Test func abortEndsWithStatusOneAndTheLastRecordCovered() throws {
        var band = try band()
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 2)
        #expect(band.writeControlPoint([0x02]) == nil)
        let (records, ends) = try band.drain()
        #expect(records.isEmpty)
        #expect(ends == [StreamEnd(lastSeq: 30, oldestSeq: 1, status: .aborted, clockID: 1)])
    }

    @Test func abortWithoutAStreamSucceedsWithoutEnd() throws {
        var band = try band()
        #expect(band.writeControlPoint([0x02]) == nil)
        #expect(try band.drain().ends.isEmpty)
    }

    @Test func aLostLinkOrDisabledNotificationsEndAStreamWithoutEnd() throws {
        for cut in [{ $0.enableNotifications(false) }, { $0.linkDown() }] as [(inout SimulatedBand) -> Void] {
            var band = try band()
            _ = band.sendFrom(1)
            cut(&band)
            if !band.isLinked { band.linkUp(mtu: 247) }
            band.enableNotifications(true)
            #expect(band.nextNotifications(max: 10).isEmpty)
        }
    }

    @Test func recordsMeasuredDuringAStreamBelongToIt() throws {
        var band = try band(records: 20)
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 1)
        band.record(5, now: now + 5_000)
        let (records, ends) = try band.drain()
        #expect(records.map(\.seq) == Array(16...25))
        #expect(ends.map(\.lastSeq) == [25])
    }

    @Test func noNotificationSpansAStepOfTheClock() throws {
        var band = try band { $0.clockSteps = 3 }
        band.stepClock(by: -86_400_000, now: now)
        band.record(7, now: now + 7_000)
        _ = band.sendFrom(1)
        var clocks: [UInt32: UInt16] = [:]
        for bytes in band.nextNotifications(max: 100) {
            guard case .samples(let clock, let records) = try HistoryNotification(decoding: bytes) else {
                continue
            }
            for record in records { clocks[record.seq] = clock }
        }
        #expect(Set(clocks.values) == [1, 2, 3, 4, 5])
        for sample in band.everRecorded { #expect(clocks[sample.record.seq] == sample.clockID) }
    }
}
