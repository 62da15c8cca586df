import BandProfile
import Foundation
import GatewayModel
import Locking
import SQLite
import Systemd
import Testing

@testable import Gateway
@testable import Store

@Suite struct QuestionResolverTests {
    private final class Sink: LogSink {
        func write(_ entry: LogEntry) {}
    }

    /// The answers of one band can't be stored: those of the others are.
    @Test func whatGoesWrongWithOneBandKeepsNoOthersQuestionsOpen() async throws {
        let directory = NSTemporaryDirectory() + "bandferry-resolver-" + UUID().uuidString
        defer { try? FileManager.default.removeItem(atPath: directory) }
        let store = try Store.open(directory: directory, now: { Timestamp(milliseconds: 1_793_100_000_000) })
        let ring = RingID(rawValue: 7)
        let addresses = (1...8).map { BluetoothAddress(bits: UInt64($0)) }
        for address in addresses {
            let device = DeviceID(address)
            try await store.adopt(address: address, device: device, mode: .own, name: nil, configured: false)
            let info = RingInfo(
                clockID: 3, formatCount: 1, window: 64, ring: ring, oldestSeq: 10, newestSeq: 9, capacity: 100
            )
            _ = try await store.progress(of: device, info: info)
            let lost = SuspectedGap(ring: ring, firstSeq: 1, lastSeq: 9, cause: .overwritten)
            let chunk = Chunk(ring: ring, records: [], gaps: [], openQuestions: [lost], raw: [], through: 9)
            _ = try await store.commit(chunk, of: device, clock: nil)
        }
        #expect(try await store.openQuestions().count == 8)
        let database = try Database(path: directory + "/gateway.db", access: .readWrite)
        try database.execute(
            """
            CREATE TRIGGER refuse BEFORE DELETE ON open_questions
                WHEN old.ring = (SELECT rings.id FROM rings JOIN bands ON bands.id = band WHERE address = 3)
            BEGIN SELECT RAISE(ABORT, 'no room'); END
            """)
        let resolver = QuestionResolver(
            store: store, uploader: nil, log: Log(level: .error, sink: Sink()), changed: {})
        #expect(await resolver.answerAll() == .failed)
        #expect(try await store.openQuestions().map(\.device) == [DeviceID(addresses[2])])
        try database.execute("DROP TRIGGER refuse")
        #expect(await resolver.answerAll() == .done)
        #expect(try await store.openQuestions().isEmpty)
    }

    @Test func roundsThatFailComeAtGrowingDistances() {
        var pace = AnswerPace()
        #expect(pace.wait(after: .done) == nil)
        #expect((0..<3).map { _ in pace.wait(after: .unreachable) } == [15, 15, 15].map { .seconds($0) })
        #expect(
            (0..<8).map { _ in pace.wait(after: .failed) }
                == [15, 30, 60, 120, 240, 480, 960, 960].map { .seconds($0) })
        // As soon as one succeeds they are near again.
        #expect(pace.wait(after: .done) == nil)
        #expect(pace.wait(after: .failed) == .seconds(15))
    }
}
