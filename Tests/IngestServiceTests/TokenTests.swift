import Foundation
import Testing

@testable import IngestService
@testable import IngestStore

@Suite struct TokenTests {
    /// FIPS 180-4 examples, and lengths around a block's end against the sha256sum program.
    @Test func digestsAreSHA256() throws {
        func hex(_ text: String) -> String {
            SHA256.digest(Array(text.utf8)).map { String(format: "%02x", $0) }.joined()
        }
        #expect(hex("") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855")
        #expect(hex("abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")
        #expect(
            hex("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq")
                == "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1")
        #expect(
            hex(String(repeating: "a", count: 1_000))
                == "41edece42d63e8d9bf515a9ba6932e1c20cbc9f5a5d134645adb5db1b9737ea3")
        let digests = (0..<130).map { hex(String(repeating: "x", count: $0)) }
        #expect(Set(digests).count == digests.count)
    }

    @Test func aFileNamesTokensAccountsAndRoles() throws {
        let table = try TokenTable(
            text: """
                # gateways
                one
                two   clinic

                \tthree clinic read
                four clinic gateway
                """)
        #expect(table.identity(token: "one") == Identity(account: "default"))
        #expect(table.identity(token: "two") == Identity(account: "clinic"))
        #expect(table.identity(token: "three") == Identity(account: "clinic", role: .read))
        #expect(table.identity(token: "four") == Identity(account: "clinic"))
        for token in ["", "#", "clinic", "One", "one ", "# gateways"] {
            #expect(table.identity(token: token) == nil)
        }
    }

    /// As editors of another system write it.
    @Test func aByteOrderMarkIsNoPartOfTheFirstToken() throws {
        for text in ["\u{feff}one\ntwo", "\u{feff}# comment\none\ntwo", "\u{feff}\none\r\ntwo\r\n"] {
            let table = try TokenTable(text: text)
            for token in ["one", "two"] {
                #expect(table.identity(token: token) != nil, "\(text.debugDescription)")
            }
        }
    }

    @Test(arguments: [
        ("", TokenFileFailure.empty), ("\n# only a comment\n", .empty),
        ("a\nb x y z", .line(2, "there is more than a token, an account and a role")),
        ("a x admin", .line(1, "the role is not gateway or read")),
        ("a\n\na b", .line(3, "the token is there twice")),
        ("a\nb a/b", .line(2, AccountName.rule)), ("a é", .line(1, AccountName.rule)),
        ("a " + String(repeating: "x", count: 65), .line(1, AccountName.rule)),
        ("a\n\u{feff}b", .line(2, "the token has other characters than visible ASCII")),
        ("é", .line(1, "the token has other characters than visible ASCII")),
        ("a\u{200b}", .line(1, "the token has other characters than visible ASCII")),
        ("\u{feff}", .empty),
    ])
    func aFileThatIsNotOneNamesTheLine(_ text: String, _ failure: TokenFileFailure) {
        #expect(throws: failure) { try TokenTable(text: text) }
        #expect(!"\(failure)".contains("admin"))
    }

    @Test(arguments: [
        (0o600, true), (0o400, true), (0o640, false), (0o604, false), (0o644, false), (0o660, false),
    ])
    func aFileThatOthersCanReadIsRefused(_ mode: Int, _ taken: Bool) throws {
        let directory = TemporaryDirectory()
        let path = directory.path + "/tokens"
        try Data("one\n".utf8).write(to: URL(fileURLWithPath: path))
        try FileManager.default.setAttributes([.posixPermissions: mode], ofItemAtPath: path)
        if taken {
            #expect(try TokenFile.read(path).identity(token: "one") != nil)
        } else {
            #expect(throws: TokenFileFailure.file(.readableByOthers(mode: UInt32(mode)))) {
                try TokenFile.read(path)
            }
        }
    }

    @Test func whatIsNoFileIsRefused() {
        #expect(throws: TokenFileFailure.file(.notAFile)) { try TokenFile.read("/dev/null") }
        #expect(throws: TokenFileFailure.self) { try TokenFile.read("/nonexistent/tokens") }
    }
}
