import Foundation
import IngestAPI
import Testing

@testable import IngestService
@testable import IngestStore

/// What every storage of tokens must do; the storages of tests are held to it too.
@Suite struct TokenStorageTests {
    private func eachStorage(_ body: (any TokenStorage) async throws -> Void) async throws {
        try await body(MemoryTokens())
        let directory = TemporaryDirectory()
        let storage = try await DatabaseStorage(
            TestEngine.make(directory), now: WallClock.now, rests: .untilClosed)
        try await body(storage)
        await storage.close()
    }

    private func token(_ id: String, _ account: String, _ byte: UInt8, label: String? = nil) -> StoredToken {
        StoredToken(
            id: id, account: account, role: byte % 2 == 0 ? .read : .gateway, label: label,
            digest: [UInt8](repeating: byte, count: 32), createdAt: APITime(milliseconds: Int64(byte) * 1000))
    }

    @Test func whatWasAddedIsFoundByItsDigest() async throws {
        try await eachStorage { storage in
            #expect(try await storage.createAccount("a"))
            #expect(try await storage.createAccount("b"))
            #expect(try await !storage.createAccount("a"))
            #expect(try await storage.accounts().sorted() == ["a", "b"])
            let all = [
                token("00000001", "a", 1), token("00000002", "b", 2, label: "é"), token("00000003", "a", 3),
            ]
            for token in all { try await storage.addToken(token) }
            for token in all { #expect(try await storage.token(digest: token.digest) == token) }
            #expect(try await storage.token(digest: [UInt8](repeating: 9, count: 32)) == nil)
            #expect(try await storage.tokens(account: nil) == all)
            #expect(try await storage.tokens(account: "a") == [all[0], all[2]])
            #expect(try await storage.tokens(account: "c") == [])
        }
    }

    @Test func aRevocationIsKeptWithItsFirstTime() async throws {
        try await eachStorage { storage in
            _ = try await storage.createAccount("a")
            try await storage.addToken(token("00000001", "a", 1))
            try await storage.addToken(token("00000002", "a", 2))
            var revoked = token("00000001", "a", 1)
            revoked.revokedAt = APITime(milliseconds: 5000)
            for time in [5000, 6000] as [Int64] {
                let answer = try await storage.revokeToken(id: "00000001", at: APITime(milliseconds: time))
                #expect(answer == revoked)
            }
            #expect(try await storage.token(digest: revoked.digest) == revoked)
            #expect(try await storage.tokens(account: "a") == [revoked, token("00000002", "a", 2)])
            #expect(try await storage.revokeToken(id: "00000009", at: APITime(milliseconds: 1)) == nil)
        }
    }
}
