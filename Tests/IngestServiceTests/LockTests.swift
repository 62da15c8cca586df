import IngestAPI
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

/// What another transaction locks holds up who needs it, and nobody else.
@Suite struct LockTests {
    /// The next try would come too late: whoever is held up is told at once.
    private static let noTry = LockPauses(first: .seconds(7200), afterWait: .seconds(7200))

    private static func report(_ device: DeviceKey) throws -> WriteJob<Void> {
        try DeviceJobs.putReport(DeviceReport(), device)
    }

    private func account(_ name: String) -> WriteJob<Void> {
        WriteJob { _, _ in
            Decision(value: (), writes: [SQLCall(AccountStatement.make, .text(name), .int(0))])
        }
    }

    /// A transaction of another server that has a device until it ends.
    private func lock(_ device: DeviceKey, on engine: any SQLEngine) throws -> any SQLSession {
        let session = try engine.connect(toWrite: true)
        let results = try session.beginWriting([SQLCall(DeviceStatement.lock, device.value)])
        #expect(results.first?.rows.count == 1)
        return session
    }

    @Test(.enabled(if: TestEngine.isPostgreSQL)) func nobodyWaitsForADevice() async throws {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        try engine.prepare()
        let device = DeviceKey(account: "a", name: "d")
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        try await queue.perform(try Self.report(device))
        let holder = try lock(device, on: engine)
        let other = try engine.connect(toWrite: true)
        #expect(
            try other.beginWriting([SQLCall(DeviceStatement.lock, device.value)]).first?.rows.isEmpty == true)
        other.rollBack()
        holder.rollBack()
        for session in [holder, other] { session.close() }
        await queue.close()
    }

    @Test(.enabled(if: TestEngine.isPostgreSQL)) func aLockedDeviceHoldsUpItsOwnRequestsOnly() async throws {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        try engine.prepare()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        let held = DeviceKey(account: "a", name: "held")
        try await queue.perform(try Self.report(held))
        let holder = try lock(held, on: engine)
        let done = Guarded([String]())
        try await withThrowingTaskGroup(of: Void.self) { group in
            // One that may make the device, and one that may not; in this order.
            let lease = LeaseRequest(gatewayID: "g", ttlSeconds: 60)
            group.addTask {
                _ = try await queue.perform(
                    DeviceJobs.requestLease(lease, held, now: APITime(milliseconds: 0)))
                done.withLock { $0.append("requested") }
            }
            while await queue.held == 0 { await Task.yield() }
            group.addTask {
                let answer = try await queue.perform(
                    DeviceJobs.releaseLease(gateway: "h", held, now: APITime(milliseconds: 1)))
                #expect(answer?.holder == "g")
                done.withLock { $0.append("released") }
            }
            for number in 0..<50 {
                try await queue.perform(try Self.report(DeviceKey(account: "b", name: "d\(number)")))
            }
            #expect(done.withLock { $0 }.isEmpty)
            holder.rollBack()
            try await group.waitForAll()
        }
        #expect(done.withLock { $0 } == ["requested", "released"])
        holder.close()
        await queue.close()
    }

    @Test(.enabled(if: TestEngine.isPostgreSQL)) func oneThatMayNotMakeADeviceIsHeldUpByItsLock() async throws
    {
        let directory = TemporaryDirectory()
        let engine = try TestEngine.make(directory)
        try engine.prepare()
        let queue = WriteQueue(engine, lockPauses: Self.noTry, limits: .untilTheTestEnds)
        let device = DeviceKey(account: "a", name: "d")
        let release = DeviceJobs.releaseLease(gateway: "g", device, now: APITime(milliseconds: 0))
        #expect(try await queue.perform(release) == nil)
        try await queue.perform(try Self.report(device))
        let holder = try lock(device, on: engine)
        // Not as if the device were not known.
        await #expect(throws: StorageFailure.self) { try await queue.perform(release) }
        await #expect(throws: StorageFailure.self) { try await queue.perform(try Self.report(device)) }
        holder.rollBack()
        #expect(try await queue.perform(release) != nil)
        // Others' locks say nothing about room.
        #expect(await !queue.room.isDoubtful)
        holder.close()
        await queue.close()
    }

    private static var lockNotAvailable: StorageFailure {
        var failure = StorageFailure(.unavailable, "55P03: a lock was not to be had")
        failure.isTransient = true
        failure.isContended = true
        return failure
    }

    /// What whoever needed that lock for too long is told: not that the storage fails.
    private static var lockedOut: StorageFailure {
        StorageFailure(.overloaded, "55P03: a lock was not to be had")
    }

    /// A lock that a statement waits for, for so long that it gives up.
    @Test func aGroupThatWaitedForALockGoesOnWithoutWhoNeedsIt() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        let isHeld = Guarded(true)
        let waits = Guarded([Int]())
        engine.refuse { calls in
            guard isHeld.withLock({ $0 }), calls.contains(where: { $0.values.first == .text("held") })
            else { return nil }
            waits.withLock { $0.append(calls.count) }
            return Self.lockNotAvailable
        }
        let isDone = Guarded(false)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for name in ["x", "held", "y"] {
                group.addTask {
                    try await queue.perform(account(name))
                    if name == "held" { isDone.withLock { $0 = true } }
                }
            }
            while await queue.held == 0 { await Task.yield() }
            for number in 0..<50 { try await queue.perform(account("\(number)")) }
            #expect(!isDone.withLock { $0 })
            // It drags others into its trouble once at most.
            #expect(waits.withLock { $0.filter { $0 > 1 } }.count <= 1)
            isHeld.withLock { $0 = false }
            try await group.waitForAll()
        }
        #expect(isDone.withLock { $0 })
        #expect(await !queue.room.isDoubtful)
        await queue.close()
    }

    @Test func whoCouldNotBeBegunInTimeAnyMoreIsToldAtOnce() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        let queue = WriteQueue(engine, lockPauses: Self.noTry, limits: .untilTheTestEnds)
        let tries = Guarded(0)
        engine.refuse { _ in
            tries.withLock { $0 += 1 }
            return Self.lockNotAvailable
        }
        await #expect(throws: Self.lockedOut) { try await queue.perform(account("a")) }
        #expect(tries.withLock { $0 } == 1)
        engine.refuse { _ in nil }
        try await queue.perform(account("a"))
        await queue.close()
    }

    @Test(.timeLimit(.minutes(5))) func whatIsHeldUpIsAnsweredWhenTheStorageCloses() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        engine.refuse { _ in Self.lockNotAvailable }
        let outcome = Task { try await queue.perform(account("a")) }
        while await queue.held == 0 { await Task.yield() }
        await queue.close()
        await #expect(throws: Self.lockedOut) { try await outcome.value }
    }
}
