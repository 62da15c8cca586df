import Dispatch
import IngestAPI
import Testing

@testable import IngestService
@testable import IngestStore

/// A row that can't be read costs its device's requests, and no other's.
@Suite struct DamagedDeviceTests {
    @Test func aDamagedDeviceLeavesItsGroupAlone() async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        try engine.prepare()
        let queue = WriteQueue(engine, limits: .untilTheTestEnds)
        let devices = (1...9).map { DeviceKey(account: "a", name: "d\($0)") }
        for device in devices { try await queue.perform(try DeviceJobs.putReport(DeviceReport(), device)) }
        engine.spoil(devices[4].id)
        let commits = await queue.commits
        let gate = DispatchSemaphore(value: 0)
        async let first: Void = queue.perform(
            WriteJob { _, _ in
                gate.wait()
                return Decision(value: ())
            })
        async let outcomes = devices.asyncMap { device in
            do throws(StorageFailure) {
                try await queue.perform(try DeviceJobs.putReport(DeviceReport(), device))
                return true
            } catch {
                #expect(error.kind == .damaged)
                return false
            }
        }
        // Long enough for most of them to be in one group.
        DispatchQueue.global().asyncAfter(deadline: .now() + 0.3) { gate.signal() }
        try await first
        #expect(await outcomes == devices.map { $0 != devices[4] })
        // Nor does it say anything about the storage: all of them were committed.
        #expect(await queue.commits > commits)
        #expect(await !queue.room.isDoubtful)
        await queue.close()
    }
}
