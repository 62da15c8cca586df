import Foundation
import IngestAPI
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

/// What happens beside requests after a write failed, and when it goes on.
@Suite struct RoomTests {
    @Test func asMuchAsCouldNotBeWrittenEndsTheDoubt() {
        var room = RoomDoubt()
        #expect(!room.isDoubtful)
        room.failed(500)
        room.failed(20)
        room.failed(RoomDoubt.proof)
        room.wrote(499)
        #expect(room.isDoubtful)
        room.wrote(500)
        #expect(!room.isDoubtful)
        // Whatever it was, a proof is enough.
        room.failed(64 << 20)
        room.wrote(RoomDoubt.proof)
        #expect(!room.isDoubtful)
    }

    @Test func whatDidNotComeToWritingSaysNothingAboutRoom() {
        var room = RoomDoubt()
        room.failed(0)
        #expect(!room.isDoubtful)
    }

    /// A server that anybody can ask for its health is not kept busy with proofs on a full disk.
    @Test func aProofThatFailedAnswersForTheNext() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        let hour = Duration.seconds(3600)
        let queue = WriteQueue(engine, limits: TimeLimits(begin: hour, end: hour * 2, proof: hour))
        let proofs = Guarded(0)
        let isFull = Guarded(true)
        engine.refuse { calls in
            if calls.flatMap(\.values).contains(where: { $0.size >= RoomDoubt.proof }) {
                proofs.withLock { $0 += 1 }
            }
            return isFull.withLock { $0 } ? StorageFailure(.unavailable, "the disk is full") : nil
        }
        func account(_ name: String) -> WriteJob<Void> {
            WriteJob { _, _ in
                Decision(value: (), writes: [SQLCall(AccountStatement.make, .text(name), .int(0))])
            }
        }
        let large = String(repeating: "a", count: 2000)
        await #expect(throws: StorageFailure.self) { try await queue.perform(account(large)) }
        for _ in 0..<5 {
            await #expect(throws: StorageFailure.self) { try await queue.probe(asked: .now) }
        }
        #expect(proofs.withLock { $0 } == 1)
        isFull.withLock { $0 = false }
        await #expect(throws: StorageFailure.self) { try await queue.probe(asked: .now) }
        #expect(proofs.withLock { $0 } == 1)
        // A small write finds room on a disk that is nearly full: it is no reason for another one.
        try await queue.perform(account("small"))
        await #expect(throws: StorageFailure.self) { try await queue.probe(asked: .now) }
        #expect(proofs.withLock { $0 } == 1)
        // One as large as what failed ends the doubt, and what was found in it.
        try await queue.perform(account(String(repeating: "b", count: 2000)))
        try await queue.probe(asked: .now)
        #expect(proofs.withLock { $0 } == 1)
        isFull.withLock { $0 = true }
        await #expect(throws: StorageFailure.self) { try await queue.perform(account(large + "c")) }
        await #expect(throws: StorageFailure.self) { try await queue.probe(asked: .now) }
        #expect(proofs.withLock { $0 } == 2)
        await queue.close()
    }

    @Test func aLookFindsSomethingNew() {
        #expect(IngestService.lookInterval > TimeLimits.request.proof)
    }

    @Test func proofsGetFartherApart() {
        var room = RoomDoubt()
        room.failed(500)
        let begin = ContinuousClock.now
        let asked = (0..<400).filter { room.mayProve(at: begin + .seconds($0)) }
        #expect(asked == [0, 1, 3, 7, 15, 31, 63, 123, 183, 243, 303, 363])
        room.wrote(500)
        room.failed(500)
        let mayBegin = room.mayProve(at: begin)
        #expect(mayBegin)
    }

    /// A server on whose every writer something fails when the test says so.
    private struct Bed {
        let engine: RefusingEngine
        let server: TestServer
        /// One for each writer.
        let devices: [DeviceKey]

        init() async throws {
            let directory = TemporaryDirectory()
            let engine = RefusingEngine(try TestEngine.make(directory))
            self.engine = engine
            server = try await TestServer(directory: directory, engine: engine)
            devices = (0..<engine.writers).compactMap { writer in
                (0...).lazy.map { DeviceKey(account: "a", name: "d\($0)") }
                    .first { Int($0.id.first ?? 0) % engine.writers == writer }
            }
        }

        func failEachWriter() async throws {
            engine.allow(100)
            for device in devices {
                let large = (1...500).map { sample(UInt32(100 + $0), value: 60 + $0 % 37) }
                #expect(try await server.client().post(batch(large, device: device.name)).status == 503)
            }
        }

        func stop() async { await server.server.stop(within: .seconds(60)) }
    }

    @Test func trendsAreStoredAgainByThemselvesAfterAFailure() async throws {
        let bed = try await Bed()
        for device in bed.devices {
            _ = try await bed.server.client().store(
                batch([sample(1, .steps, value: 5, at: march(1, 12), offset: 0)], device: device.name))
        }
        try await bed.failEachWriter()
        for device in bed.devices {
            #expect(try await bed.server.storage.roller.roll(device) == false)
        }
        #expect(try bed.server.count("trend_days") == 0)
        // What is touched is told all the same.
        let query = "device_id=\(bed.devices[0].name)&type=steps&from=2026-03-01&to=2026-03-01"
        #expect(try await bed.server.client().aggregates(query).buckets.map(\.sum) == [5])
        bed.engine.allow(nil)
        // A request of the size that failed is proof too.
        for device in bed.devices {
            let large = (1...500).map { sample(UInt32(100 + $0), value: 60 + $0 % 37) }
            _ = try await bed.server.client().store(batch(large, device: device.name))
            #expect(try await bed.server.storage.roller.roll(device))
        }
        #expect(try bed.server.count("trend_days") > 0)
        #expect(try await bed.server.touched().isEmpty)
        await bed.stop()
    }

    @Test func whereNothingIsSentAProofIsMade() async throws {
        let bed = try await Bed()
        for device in bed.devices {
            _ = try await bed.server.client().store(
                batch([sample(1, .steps, value: 5, at: march(1, 12), offset: 0)], device: device.name))
        }
        try await bed.failEachWriter()
        bed.engine.allow(nil)
        for device in bed.devices { #expect(try await bed.server.storage.roller.roll(device)) }
        #expect(try bed.server.count("trend_days") == bed.devices.count)
        await bed.stop()
    }

    /// Whichever connection can't write: a part of all devices can't be stored then.
    @Test func healthNeedsEachWriter() async throws {
        let bed = try await Bed()
        #expect(try await bed.server.client().get("/healthz").status == 200)
        for device in bed.devices {
            bed.engine.allow(10)
            #expect(try await bed.server.client().post(batch([sample(1)], device: device.name)).status == 503)
            // Enough for a small write, and not for a proof of the writer that failed.
            bed.engine.allow(100_000)
            #expect(try await bed.server.client().get("/healthz").status == 503)
            bed.engine.allow(nil)
            #expect(try await bed.server.client().get("/healthz").status == 200)
        }
        await bed.stop()
    }

    @Test func samplesExpireWhileRoomIsInDoubt() async throws {
        let bed = try await Bed()
        for device in bed.devices {
            _ = try await bed.server.client().store(batch([sample(1), sample(2)], device: device.name))
        }
        try await bed.server.settle()
        bed.server.clock.advance(seconds: 100 * 86_400)
        try await bed.failEachWriter()
        // Enough for what a few samples leave behind, and not for a proof.
        bed.engine.allow(1000)
        try await bed.server.storage.tidy(Retention(days: 90))
        #expect(try bed.server.count("samples") == 0)
        await bed.stop()
    }

    /// What a proof does not fit into may have room for a request.
    @Test func aProofThatFailsFailsNoRequest() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        engine.allow(1000)
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = queue.perform(
            WriteJob { _, _ in
                gate.wait()
                return Decision(value: ())
            })
        async let outcomes = (0..<9).asyncMap { number in
            do throws(StorageFailure) {
                let large = [SQLValue.int(0), .bytes([UInt8](repeating: 0, count: 2000))]
                let probe = SQLCall(ServerStatement.probe, large[0], large[1])
                let account = SQLCall(AccountStatement.make, .text("account \(number)"), .int(0))
                let isProof = number == 4
                try await queue.perform(
                    WriteJob<Void>(goesAlone: isProof) { _, _ in
                        Decision(value: (), writes: [isProof ? probe : account])
                    })
                return true
            } catch {
                return false
            }
        }
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { gate.signal() }
        try await first
        #expect(await outcomes == (0..<9).map { $0 != 4 })
        await queue.close()
    }

    @Test func aTransactionThatWroteNothingProvesNothing() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        engine.allow(0)
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        await #expect(throws: StorageFailure.self) { try await queue.probe(asked: .now) }
        try await queue.perform(WriteJob<Void> { _, _ in Decision(value: ()) })
        await #expect(throws: StorageFailure.self) { try await queue.probe(asked: .now) }
        #expect(await !queue.hasRoom())
        engine.allow(nil)
        try await queue.probe(asked: .now)
        #expect(await queue.hasRoom())
        await queue.close()
    }
}
