import IngestAPI
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

/// Every device has its turn, whatever happens to the others.
@Suite struct HousekeepingTests {
    /// Devices in the order of a tour, each with a day that is touched.
    private func devices(_ count: Int, on server: TestServer) async throws -> [DeviceKey] {
        let devices = (1...count).map { DeviceKey(account: $0 % 2 == 0 ? "a" : "b", name: "d\($0)") }
        for device in devices {
            _ = try await server.client("gateway-\(device.account)").store(
                batch([sample(1, .steps, value: 5, at: march(1, 12), offset: 0)], device: device.name))
        }
        return devices.sorted { $0.id.lexicographicallyPrecedes($1.id) }
    }

    private func round(_ tour: inout DeviceTour, _ storage: DatabaseStorage) async throws {
        try await Housekeeping.round(&tour, storage.roller, Retention(days: nil), storage.now, rest: {})
    }

    private func run(_ body: (TestServer, RefusingEngine) async throws -> Void) async throws {
        let directory = TemporaryDirectory()
        let engine = RefusingEngine(try TestEngine.make(directory))
        let server = try await TestServer(directory: directory, engine: engine)
        do {
            try await body(server, engine)
        } catch {
            await server.server.stop(within: .seconds(60))
            throw error
        }
        await server.server.stop(within: .seconds(60))
    }

    @Test func aDeviceThatFailsIsPassedOver() async throws {
        try await run { server, engine in
            let devices = try await devices(5, on: server)
            let failing = Set([devices[0], devices[2]].map { SQLValue.bytes($0.id) })
            engine.refuse { calls in
                calls.contains { !failing.isDisjoint(with: $0.values) }
                    ? StorageFailure(.unavailable, "not this one") : nil
            }
            var tour = DeviceTour()
            try await round(&tour, server.storage)
            #expect(try await server.touched().count == 2)
            engine.allow(nil)
            try await round(&tour, server.storage)
            #expect(try await server.touched().isEmpty)
        }
    }

    @Test func whereTheStorageFailsTheTourGoesOnFromThereLater() async throws {
        try await run { server, engine in
            let devices = try await devices(5, on: server)
            // After the page of devices nothing can be read.
            let reads = Guarded(0)
            engine.refuseReading {
                let isFirst = reads.withLock { reads in
                    reads += 1
                    return reads == 1
                }
                return isFirst ? nil : StorageFailure(.unavailable, "the database is gone")
            }
            var tour = DeviceTour()
            await #expect(throws: StorageFailure.self) { try await round(&tour, server.storage) }
            #expect(tour.place == devices[2].id)
            engine.refuseReading { nil }
            try await round(&tour, server.storage)
            #expect(try await server.touched().isEmpty)
        }
    }

    @Test(arguments: 0...6) func aTourPassesEachDeviceOnce(start: Int) async throws {
        try await run { server, _ in
            let devices = try await devices(5, on: server)
            // At a device, between two, before all and behind all.
            let places = [[0], devices[0].id, devices[2].id, devices[2].id + [0], devices[4].id, [255], []]
            var tour = DeviceTour(after: places[start].map { UInt8($0) })
            let begin = tour
            try await round(&tour, server.storage)
            #expect(try await server.touched().isEmpty)
            #expect(tour == begin)
        }
    }

    @Test func toursBeginAnywhere() {
        #expect(Set((0..<20).map { _ in DeviceTour.anywhere().place }).count == 20)
    }
}
