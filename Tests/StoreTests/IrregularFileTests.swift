import Foundation
import Testing

@testable import Store

/// What is no file in the place of one.
@Suite struct IrregularFileTests {
    let fixture: StoreFixture

    init() throws {
        fixture = try StoreFixture()
        try FileManager.default.createDirectory(
            atPath: fixture.directory, withIntermediateDirectories: true,
            attributes: [.posixPermissions: 0o700])
    }

    /// To open a pipe waits for somebody who writes: a test that would hang gets one, and fails.
    private func withPipe(_ name: String, _ body: () async throws -> Void) async rethrows {
        let path = fixture.path(name)
        mkfifo(path, 0o600)
        let rescue = Task {
            guard (try? await Task.sleep(for: .seconds(20))) != nil else { return }
            Issue.record("it waits for somebody who writes to the pipe")
            close(open(path, O_RDWR | O_NONBLOCK))
        }
        defer { rescue.cancel() }
        try await body()
    }

    @Test func aPipeInPlaceOfTheDatabaseIsRefusedAtOnce() async throws {
        let directory = fixture.directory
        await withPipe("gateway.db") {
            #expect(await isStoreError(.directory) { _ = try fixture.open() })
            #expect(await isStoreError(.directory) { _ = try StoreReader(directory: directory) })
            #expect(await isStoreError(.directory) { _ = try fixture.outbox() })
        }
    }

    @Test func aDirectoryInPlaceOfTheDatabaseIsRefused() async throws {
        mkdir(fixture.databasePath, 0o700)
        #expect(await isStoreError(.directory) { _ = try fixture.open() })
    }

    @Test(arguments: [".made", ".awaited", ".suspect"]) func aPipeInPlaceOfANoteHoldsNothingUp(
        _ suffix: String
    )
        async throws
    {
        await withPipe("gateway.db" + suffix) {
            // An error or not, but at once.
            _ = try? await fixture.open().close()
        }
    }
}
