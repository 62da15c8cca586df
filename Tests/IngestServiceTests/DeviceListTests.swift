import Foundation
import IngestAPI
import Locking
import Testing

@testable import IngestService
@testable import IngestStore

/// All devices of an account, however many they are and however far the database is.
@Suite struct DeviceListTests {
    /// A storage with some devices of account a, and what it asks its engine.
    private struct Bed {
        let directory = TemporaryDirectory()
        let engine: RefusingEngine
        let storage: DatabaseStorage
        /// Transactions that read.
        let questions = Guarded(0)

        /// `rings`: how many the device of each place has.
        init(devices: Int, rings: (Int) -> Int) async throws {
            engine = RefusingEngine(try TestEngine.make(directory))
            storage = try await DatabaseStorage(
                engine, now: WallClock.now, rests: .untilClosed, limits: .untilTheTestEnds)
            let session = try engine.connect(toWrite: true)
            _ = try session.beginWriting([])
            for place in 0..<devices {
                let key = DeviceKey(account: "a", name: Self.name(place))
                let made = (0..<rings(place)).map {
                    SQLCall(DeviceStatement.makeRing, key.value, .int($0), .int($0))
                }
                _ = try session.run(key.make + made)
            }
            try session.commit([])
            session.close()
            engine.runs.withLock { $0 = [] }
            engine.refuseReading { [questions] in
                questions.withLock { $0 += 1 }
                return nil
            }
        }

        static func name(_ place: Int) -> String { String(format: "d%04d", place) }
    }

    @Test func manyAreReadTogether() async throws {
        let count = DeviceReads.together * 2 + 88
        let bed = try await Bed(devices: count) { $0 % 3 }
        let states = try await bed.storage.devices(account: "a")
        #expect(states.map(\.deviceID) == (0..<count).map(Bed.name))
        #expect(states.map(\.rings.count) == (0..<count).map { $0 % 3 })
        // Three parts, and for each the names, the devices and the rings: not one for each device.
        #expect(bed.engine.runs.withLock { $0 }.count == 9)
        // Others' questions go between.
        #expect(bed.questions.withLock { $0 } == 3)
        #expect(try await bed.storage.devices(account: "b").isEmpty)
        await bed.storage.close()
    }

    @Test func oneIsReadWithOneCall() async throws {
        let bed = try await Bed(devices: 2) { $0 + 1 }
        let state = try await bed.storage.device(Bed.name(1), account: "a")
        #expect(state?.rings.map(\.ring) == ["00000000", "00000001"])
        #expect(bed.engine.runs.withLock { $0 }.count == 1)
        #expect(try await bed.storage.device("e", account: "a") == nil)
        await bed.storage.close()
    }

    /// What is in hand is bounded, also where each device has as many rings as one may have.
    @Test func fewAreReadTogetherWhereTheyHaveManyRings() async throws {
        let rings = DeviceReads.ringsTogether / 2 - 1000
        let bed = try await Bed(devices: 5) { _ in rings }
        #expect(
            try await bed.storage.devices(account: "a").map(\.rings.count)
                == Array(repeating: rings, count: 5))
        let rows = bed.engine.runs.withLock { $0 }
        #expect(rows == [5, 5, 2 * rings, 2 * rings, rings])
        await bed.storage.close()
    }

    @Test func neighboursAreReadTogetherUpToALimit() {
        func groups(_ counts: Int...) -> [[Int]] {
            DeviceReads.groups(counts, limit: 10).map { Array(counts[$0]) }
        }
        #expect(groups().isEmpty)
        #expect(groups(0) == [[0]])
        #expect(groups(4, 6, 1) == [[4, 6], [1]])
        #expect(groups(4, 7, 3, 1) == [[4], [7, 3], [1]])
        #expect(groups(1, 11, 1) == [[1], [11], [1]])
        #expect(groups(11, 12) == [[11], [12]])
    }

    @Test func aListHasRoomForSoManyInAllItsParts() async throws {
        let count = DeviceReads.together + 1
        let bed = try await Bed(devices: count) { _ in 1 }
        #expect(try await bed.storage.devices(account: "a", room: 2 * count).count == count)
        for room in [2 * count - 1, count, 1] {
            bed.engine.runs.withLock { $0 = [] }
            await #expect(throws: StorageFailure.longList) {
                try await bed.storage.devices(account: "a", room: room)
            }
            // No ring of a part that there is no room for is read.
            #expect(bed.engine.runs.withLock { $0 }.count == (room == 2 * count - 1 ? 5 : 2))
        }
        await bed.storage.close()
    }
}
