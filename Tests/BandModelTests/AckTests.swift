import BandModel
import BandProfile
import Testing

@Suite struct AckTests {
    @Test func anAckFreesEveryRecordAtOrBelowIt() throws {
        var band = try band()
        _ = band.sendFrom(1)
        _ = try band.drain()
        #expect(band.ack(Ack.encode(40)) == .honoured(freed: 40))
        #expect(band.info().oldestSeq == 41)
        #expect(band.ack(Ack.encode(40)) == .honoured(freed: 0))
        #expect(band.ack(Ack.encode(100)) == .honoured(freed: 60))
        #expect(band.info().isEmpty)
        #expect(band.losses.isEmpty)
    }

    @Test func anAckAboveTheLastSeqEverSentIsIgnored() throws {
        var band = try band()
        #expect(band.ack(Ack.encode(1)) == .ignored)
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 2)
        #expect(band.ack(Ack.encode(31)) == .ignored)
        #expect(band.info().oldestSeq == 1)
        band.linkDown()
        #expect(band.ack(Ack.encode(30)) == .honoured(freed: 30))
    }

    @Test func anAckThatIsNotFourBytesIsMalformed() throws {
        var band = try band()
        #expect(band.ack([1, 0, 0]) == .malformed)
        #expect(band.ack([]) == .malformed)
    }

    @Test func theWindowStopsAStreamUntilAnAckAtOrAboveTheOldestNotification() throws {
        var band = try band(window: 2)
        _ = band.sendFrom(1)
        #expect(band.nextNotifications(max: 10).count == 2)
        band.ack(Ack.encode(14))
        #expect(band.nextNotifications(max: 10).isEmpty)
        band.ack(Ack.encode(15))
        #expect(band.nextNotifications(max: 10).count == 1)
        band.ack(Ack.encode(45))
        #expect(band.nextNotifications(max: 10).count == 2)
    }

    @Test func endDoesNotCountAgainstTheWindowAndAbortResetsIt() throws {
        var band = try band(records: 30, window: 2)
        _ = band.sendFrom(1)
        #expect(band.nextNotifications(max: 10).count == 2)
        #expect(band.writeControlPoint([0x02]) == nil)
        #expect(try band.drain().ends.map(\.status) == [.aborted])
        #expect(band.sendFrom(1) == nil)
        #expect(band.nextNotifications(max: 10).count == 2)
    }

    @Test func aStreamSkipsWhatAnAckFreedAheadOfIt() throws {
        var band = try band()
        _ = band.sendFrom(1)
        _ = try band.drain()
        _ = band.sendFrom(1)
        _ = band.nextNotifications(max: 1)
        band.ack(Ack.encode(90))
        #expect(try band.drain().records.map(\.seq) == Array(91...100))
    }
}
