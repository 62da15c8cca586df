import Foundation
import IngestAPI
import Testing

@testable import IngestService
@testable import IngestStore

@Suite struct AdminCommandTests {
    private func run(_ tokens: MemoryTokens, _ words: String...) async throws -> AdminCommand.Result {
        guard case .administer(let command) = try IngestCommand.parse(words + ["--store", "sqlite:/nowhere"])
        else { throw UsageFailure("not a command") }
        return try await command.run(in: tokens, now: { APITime(milliseconds: 1_793_079_060_000) })
    }

    @Test func aTokenIsStoredAsItsDigestAndShownOnce() async throws {
        let tokens = MemoryTokens()
        _ = try await run(tokens, "account", "create", "clinic")
        let made = try await run(
            tokens, "token", "create", "--account", "clinic", "--role", "read", "--label", "desk")
        let text = String(made.output.dropLast())
        let stored = try #require(try await tokens.tokens(account: nil).first)
        #expect(stored.digest == SHA256.digest(Array(text.utf8)))
        #expect((stored.account, stored.role, stored.label) == ("clinic", .read, "desk"))
        #expect(stored.id.utf8.count == 8)
        #expect(made.note == "token \(stored.id) of account clinic, role read")
        let second = try await run(tokens, "token", "create", "--account", "clinic", "--role", "read")
        #expect(second.output != made.output)
    }

    /// How long samples are kept is the server's to know: a command lets none go.
    @Test func aCommandDoesNothingBesideWhatItIsAsked() async throws {
        let directory = TemporaryDirectory()
        guard
            case .administer(let command) = try IngestCommand.parse([
                "account", "create", "a", "--store", "sqlite:\(directory.path)/s.sqlite",
            ])
        else { throw UsageFailure("not a command") }
        let storage = try await command.open()
        #expect(!storage.keepsHouse)
        await storage.close()
        let server = try await DatabaseStorage(.sqlite(path: directory.path + "/s.sqlite"))
        #expect(server.keepsHouse)
        await server.close()
    }

    @Test(arguments: [
        ["account", "list"], ["token", "list"], ["token", "revoke", "00c0ffee"],
        ["token", "create", "--account", "a", "--role", "read"],
    ]) func aPathThatLeadsNowhereIsSaidAndNotMade(_ words: [String]) async throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/s.sqlite"
        guard case .administer(let command) = try IngestCommand.parse(words + ["--store", "sqlite:" + path])
        else { throw UsageFailure("not a command") }
        do {
            _ = try await command.run()
            Issue.record("it found a store")
        } catch {
            #expect(error.status == 74)
            #expect(error.message.contains(path))
        }
        #expect(!FileManager.default.fileExists(atPath: path))
    }

    @Test func whatIsInTheWayOfAStoreIsNamed() {
        func failure(_ code: Int32, makesStore: Bool = false) -> ExitFailure? {
            AdminCommand.failure(at: "/s.sqlite", code, makesStore: makesStore)
        }
        #expect(failure(0) == nil)
        for code in [ENOENT, ENOTDIR] {
            #expect(failure(code)?.message.hasPrefix("there is no store /s.sqlite") == true)
            #expect(failure(code, makesStore: true) == nil)
        }
        for makesStore in [false, true] {
            let refused = failure(EACCES, makesStore: makesStore)
            #expect(refused?.status == 74)
            #expect(refused?.message.contains("/s.sqlite is not for this user: Permission denied") == true)
            #expect(refused?.message.contains("sudo -u bandferry-ingest") == true)
            let broken = failure(EIO, makesStore: makesStore)
            #expect(broken?.status == 74)
            #expect(broken?.message.contains("/s.sqlite can't be looked at: Input/output error") == true)
        }
    }

    @Test func aStoreThatCannotBeLookedAtIsNotSaidToBeMissing() async throws {
        let directory = TemporaryDirectory()
        // A link to itself, as root may go where others may not.
        let path = directory.path + "/s.sqlite"
        try FileManager.default.createSymbolicLink(atPath: path, withDestinationPath: path)
        guard
            case .administer(let command) = try IngestCommand.parse([
                "account", "list", "--store", "sqlite:" + path,
            ])
        else { throw UsageFailure("not a command") }
        do {
            _ = try await command.run()
            Issue.record("it was run")
        } catch {
            #expect(error.status == 74)
            #expect(error.message.contains("symbolic links"))
        }
    }

    @Test func accountsAndTokensAreListed() async throws {
        let tokens = MemoryTokens()
        for name in ["b", "a"] { _ = try await run(tokens, "account", "create", name) }
        #expect(try await run(tokens, "account", "create", "a").note == "account a was there already")
        #expect(try await run(tokens, "account", "list").output == "b\na\n")
        try await tokens.addToken(
            StoredToken(
                id: "00c0ffee", account: "a", role: .gateway, label: "roof", digest: [1],
                createdAt: APITime(milliseconds: 0)))
        _ = try await run(tokens, "token", "revoke", "00c0ffee")
        #expect(
            try await run(tokens, "token", "list").output == """
                ID        ACCOUNT  ROLE     CREATED                   REVOKED                   LABEL
                00c0ffee  a        gateway  1970-01-01T00:00:00.000Z  2026-10-27T05:31:00.000Z  roof

                """)
        #expect(try await run(tokens, "token", "list", "--account", "b").output.hasPrefix("ID  ACCOUNT"))
    }

    @Test func aFileThatIsThereIsNotWrittenOver() async throws {
        let (directory, tokens) = (TemporaryDirectory(), MemoryTokens())
        _ = try await run(tokens, "account", "create", "a")
        let path = directory.path + "/token"
        let words = ["token", "create", "--account", "a", "--role", "read", "--output", path]
        let made = try await run(
            tokens, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7])
        #expect(made.output.isEmpty)
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(text.hasPrefix("bft_") && text.hasSuffix("\n"))
        await #expect(throws: ExitFailure.self) {
            try await run(
                tokens, words[0], words[1], words[2], words[3], words[4], words[5], words[6], words[7])
        }
        #expect(try String(contentsOfFile: path, encoding: .utf8) == text)
        #expect(try await tokens.tokens(account: nil).count == 1)
        // A token that could not be stored leaves no file.
        tokens.failAdding(StorageFailure(.unavailable, "down"))
        await #expect(throws: ExitFailure.self) {
            try await run(
                tokens, "token", "create", "--account", "a", "--role", "read", "--output", path + "2")
        }
        #expect(!FileManager.default.fileExists(atPath: path + "2"))
    }

    @Test func randomBytesAreWrittenAsRFC4648Says() {
        // Its examples, in the alphabet of section 5.
        for (text, coded) in [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")] {
            #expect(TokenText.base64URL(Array(text.utf8)) == coded)
        }
        #expect(TokenText.base64URL([0xfb, 0xff, 0xfe]) == "-__-")
        let made = Set((0..<100).compactMap { _ in try? TokenText.make() })
        #expect(made.count == 100)
        #expect(made.allSatisfy { $0.utf8.count == 47 })
    }

    @Test(arguments: [
        ["account"], ["account", "remove", "a"], ["account", "create"], ["account", "create", "a", "b"],
        ["account", "list", "a"], ["token"], ["token", "create", "--account", "a"],
        ["token", "create", "--role", "read"], ["token", "create", "x", "--account", "a", "--role", "read"],
        ["token", "revoke"], ["token", "create", "--account", "", "--role", "read"],
        ["token", "create", "--account", "a", "--role", "read", "--label", "a\nb"], ["token", "list", "--x"],
    ])
    func aCommandThatCannotBeFollowedIsRefused(_ words: [String]) {
        #expect(throws: UsageFailure.self) {
            try IngestCommand.parse(words + ["--store", "sqlite:/nowhere"])
        }
    }
}
