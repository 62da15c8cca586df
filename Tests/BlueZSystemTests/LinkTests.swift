import BandModel
import BandProfile
import BandSimulator
import DBus
import Locking
import Testing

@testable import BlueZ
@testable import BlueZModel

@Suite(.timeLimit(.minutes(2))) struct LinkTests {
    @Test(arguments: [true, false]) func aHistoryComesWholeAndAcksArrive(_ acquire: Bool) async throws {
        let bed = try await GatewayBed.start(records: 1_000) { $0.acquireNotify = acquire }
        let link = try await bed.connect()
        #expect(!link.wasAlreadyConnected && link.isAlive)
        let info = try RingInfo(decoding: try await link.readInfo())
        #expect(info.newestSeq == 1_000)
        _ = try BandClock(decoding: try await link.readClock())
        #expect(await link.mtu() == 247)
        #expect(await link.battery() == 80)
        #expect(await link.firmware() == "1.0.0")
        let mailbox = NotificationMailbox()
        try await link.subscribe(into: mailbox)
        #expect(try await bed.stream(from: 1, link, mailbox) == Array(1...1_000))
        #expect(await link.ack(600))
        #expect(await link.ack(1_000))
        try await bed.wait { _ in (try? await bed.simulator.band(band)?.info().oldestSeq) == 1_001 }
        await link.disconnect()
        #expect(!link.isAlive)
        #expect(mailbox.take(max: 1).ended)
        #expect(await bed.client.device(band)?.connected == false)
        #expect(await bed.client.device(band)?.trusted == true)
    }

    @Test(arguments: [true, false]) func aLostLinkEndsTheMailboxAndTheNextOneWorks(_ acquire: Bool)
        async throws
    {
        let bed = try await GatewayBed.start(records: 200) { $0.acquireNotify = acquire }
        let box = LostBox()
        let link = try await bed.connect { box.add($0) }
        let mailbox = NotificationMailbox()
        try await link.subscribe(into: mailbox)
        #expect(try await bed.stream(from: 101, link, mailbox).count == 100)
        try await bed.simulator.cutLink(band)
        try await bed.wait { $0.contains(.linkLost(band)) }
        try await bed.wait { _ in mailbox.take(max: 1).ended }
        #expect(box.all.map(\.kind) == [.notConnected])
        #expect(!link.isAlive)
        #expect(await failure { try await link.readInfo() }?.kind == .notConnected)
        #expect(await !link.ack(1))
        // Cached now: no object is added, and nothing of the old link is used.
        let next = try await bed.connect()
        let nextMailbox = NotificationMailbox()
        try await next.subscribe(into: nextMailbox)
        #expect(await next.mtu() == 247)
        #expect(try await bed.stream(from: 1, next, nextMailbox).count == 200)
        #expect(mailbox.take(max: 1).run.isEmpty)
    }

    @Test func aSocketThatEndsAtOnceIsNotTakenAgain() async throws {
        let bed = try await GatewayBed.start(records: 200, faults: "deadsocket")
        let link = try await bed.connect()
        let mailbox = NotificationMailbox()
        try await link.subscribe(into: mailbox)
        try await bed.wait { _ in mailbox.take(max: 1).ended }
        #expect(link.isAlive)
        await link.disconnect()
        let next = try await bed.connect()
        let signals = NotificationMailbox()
        try await next.subscribe(into: signals)
        #expect(try await bed.stream(from: 1, next, signals).count == 200)
    }

    @Test func aSocketThatIsRefusedIsNotAskedForAgain() async throws {
        let bed = try await GatewayBed.start(records: 200)
        try await bed.answer("AcquireNotify", "org.bluez.Error.NotSupported", times: 1)
        for _ in 0..<2 {
            let link = try await bed.connect()
            let mailbox = NotificationMailbox()
            try await link.subscribe(into: mailbox)
            #expect(try await bed.stream(from: 1, link, mailbox).count == 200)
            await link.disconnect()
        }
    }

    @Test func aSocketThatEndsWithItsLinkIsTakenAgain() async throws {
        let bed = try await GatewayBed.start()
        for _ in 0..<2 {
            let link = try await bed.connect()
            let mailbox = NotificationMailbox()
            try await link.subscribe(into: mailbox)
            try await bed.simulator.cutLink(band)
            try await bed.wait { _ in mailbox.take(max: 1).ended }
            await link.disconnect()
            #expect(await bed.client.withoutSockets.isEmpty)
        }
    }

    @Test func theControlPointsErrorsAreNamed() async throws {
        let bed = try await GatewayBed.start()
        let link = try await bed.connect()
        #expect(await failure { try await link.writeControlPoint([9]) }?.kind == .applicationError(0x81))
        #expect(await failure { try await link.writeControlPoint([1]) }?.kind == .applicationError(0x82))
        #expect(
            await failure { try await link.writeControlPoint(ControlPointCommand.sendFrom(1).encoded) }?.kind
                == .applicationError(0x83))
    }

    @Test func aLinkThatAKilledGatewayLeftIsTakenOver() async throws {
        let bed = try await GatewayBed.start(records: 50)
        let first = BlueZClient(bus: .address(bed.bus.address), timings: GatewayBed.timings)
        try await first.start()
        try await bed.discover()
        try await bed.wait { _ in await first.device(band) != nil }
        let link = try await first.connect(band)
        let mailbox = NotificationMailbox()
        try await link.subscribe(into: mailbox)
        // As a kill does: the bus connection goes, the Bluetooth link stays.
        await first.drain?.stop()
        await first.connection?.close()
        try await bed.wait { _ in await bed.client.device(band)?.connected == true }
        let taken = try await bed.client.connect(band)
        #expect(taken.wasAlreadyConnected)
        let next = NotificationMailbox()
        try await taken.subscribe(into: next)
        #expect(try await bed.stream(from: 1, taken, next) == Array(1...50))
    }

    @Test func anotherProgramThatHoldsTheNotificationsIsNamed() async throws {
        var timings = GatewayBed.timings
        timings.takeover = .milliseconds(100)
        let bed = try await GatewayBed.start(timings: timings)
        let other = BlueZClient(bus: .address(bed.bus.address), timings: GatewayBed.timings)
        try await other.start()
        try await bed.discover()
        try await bed.wait { _ in await other.device(band) != nil }
        let first = try await other.connect(band)
        try await bed.wait { _ in await bed.client.device(band)?.connected == true }
        try await first.subscribe(into: NotificationMailbox())
        let link = try await bed.connect()
        #expect(link.wasAlreadyConnected)
        let got = await failure { try await link.subscribe(into: NotificationMailbox()) }
        #expect(got?.kind == .heldByAnother)
        #expect(got?.remedy.contains("other program") == true)
    }

    @Test func twoSubscriptionsOfOneLinkDoNotMix() async throws {
        let bed = try await GatewayBed.start(records: 30) { $0.acquireNotify = false }
        let link = try await bed.connect()
        let (old, new) = (NotificationMailbox(), NotificationMailbox())
        try await link.subscribe(into: old)
        try await link.subscribe(into: new)
        #expect(old.take(max: 1).ended)
        #expect(try await bed.stream(from: 1, link, new) == Array(1...30))
    }

    @Test func aBandThatAsksForABondIsPaired() async throws {
        let bed = try await GatewayBed.start { $0.pairing = .justWorks }
        try await bed.client.registerAgent { $0 == band }
        let link = try await bed.connect()
        try await link.pairIfNeeded()
        _ = try await link.readInfo()
        #expect(await bed.client.device(band)?.bonded == true)
        // Once more is nothing.
        try await link.pairIfNeeded()
    }

    @Test func pairingThatFailsSaysSo() async throws {
        let bed = try await GatewayBed.start(faults: "pairfails") { $0.pairing = .justWorks }
        try await bed.client.registerAgent { _ in true }
        let link = try await bed.connect()
        #expect(await failure { try await link.pairIfNeeded() }?.kind == .authentication)
    }
}

final class LostBox: Sendable {
    private let failures = Guarded<[BlueZFailure]>([])
    func add(_ failure: BlueZFailure) { failures.withLock { $0.append(failure) } }
    var all: [BlueZFailure] { failures.withLock { $0 } }
}
