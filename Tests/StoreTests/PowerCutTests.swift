import BandProfile
import Foundation
import GatewayModel
import PowercutVFS
import ProcessTestSupport
import Testing

@testable import Store

@Suite struct PowerCutTests {
    private let device = StoreFixture.device

    /// Commits chunks; after each, how far the store would go on after a power cut at that moment.
    private func committedAndKept(_ fixture: StoreFixture) async throws -> [(committed: UInt32, kept: UInt32)]
    {
        let store = try await fixture.openWithBand()
        var pairs: [(UInt32, UInt32)] = []
        for number in 0..<30 as Range<UInt32> {
            let outcome = try await store.commit(
                chunk((number * 40 + 1)...(number * 40 + 40)), of: device, clock: reading())
            let image = try fixture.imageAfterPowerCut()
            // Without anything synced there may be no database at all, or half of one.
            let kept: UInt32
            if let after = try? image.open(),
                let next = try? await after.progress(of: device, info: info(1, 9_999)).nextSeq
            {
                kept = next - 1
            } else {
                kept = 0
            }
            pairs.append((outcome.ackThrough, kept))
        }
        return pairs
    }

    @Test func whatWasCommittedSurvivesAPowerCut() async throws {
        for (committed, kept) in try await committedAndKept(try StoreFixture()) { #expect(kept == committed) }
    }

    @Test func withSynchronousOffItDoesNot() async throws {
        let fixture = try StoreFixture()
        powercut_force_off(fixture.directory)
        for (committed, kept) in try await committedAndKept(fixture) { #expect(kept < committed) }
    }

    @Test func aConfirmThatIsLostOnlySendsAgain() async throws {
        let fixture = try StoreFixture()
        let store = try await fixture.openWithBand()
        _ = try await store.commit(chunk(1...40), of: device, clock: reading())
        let outbox = try fixture.outbox()
        let batch = try #require(try outbox.nextBatch())
        try outbox.confirm(batch.items, of: batch)
        let image = try fixture.imageAfterPowerCut()
        let restarted = try image.open()
        #expect(try await restarted.bandStatuses().first?.stored == 40)
        #expect(try image.outbox().nextBatch()?.items == batch.items)
    }

    /// The same for whole processes: the library loaded into Python's SQLite, and `kill -9`.
    @Test(.enabled(if: PreloadedLibrary.canBeTried)) func aKilledProcessLosesWhatItDidNotSync() throws {
        let library = try PreloadedLibrary()
        #expect(try library.run("kill_test.py", synchronous: "FULL") == 0)
        #expect(try library.run("kill_test.py", synchronous: "OFF") == 3)
    }
}

/// `powercut.so`, built for one test.
private final class PreloadedLibrary {
    private static let sources = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().appendingPathComponent("powercut").path
    private let directory = NSTemporaryDirectory() + "bandferry-powercut-" + UUID().uuidString

    static var canBeTried: Bool {
        ["/usr/bin/cc", "/usr/bin/python3"].allSatisfy(FileManager.default.isExecutableFile)
    }

    init() throws {
        try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
        #expect(
            try Self.exitStatus("/bin/sh", [Self.sources + "/build.sh", directory + "/powercut.so"]) == 0)
    }

    deinit { try? FileManager.default.removeItem(atPath: directory) }

    func run(_ script: String, synchronous: String) throws -> Int32 {
        try Self.exitStatus(
            "/usr/bin/python3",
            ["\(Self.sources)/\(script)", directory + "/powercut.so", directory, synchronous])
    }

    private static func exitStatus(_ program: String, _ arguments: [String]) throws -> Int32 {
        try ChildProcess.run(program, arguments).status
    }
}
