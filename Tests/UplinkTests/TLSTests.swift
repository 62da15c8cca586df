import Foundation
import HTTPClient
import Testing

/// The certificate must be the host's, from a trusted issuer, and valid now.
@Suite(.enabled(if: TLSFront.isPossible))
struct TLSTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var name: String
        var from: String
        var to: String
        var isTrusted = true
        var expected: HTTPFailure.Code?
    }

    static let rows = [
        Row(testDescription: "good", name: "localhost", from: "20200101000000Z", to: "20990101000000Z"),
        Row(
            testDescription: "expired", name: "localhost", from: "20200101000000Z", to: "20210101000000Z",
            expected: .clock),
        Row(
            testDescription: "not yet valid", name: "localhost", from: "20980101000000Z",
            to: "20990101000000Z",
            expected: .clock),
        Row(
            testDescription: "another host's", name: "example.org", from: "20200101000000Z",
            to: "20990101000000Z",
            expected: .tls),
        Row(
            testDescription: "of an issuer that nobody trusts", name: "localhost", from: "20200101000000Z",
            to: "20990101000000Z", isTrusted: false, expected: .tls),
    ]

    @Test(arguments: rows) func aCertificateIsJudged(_ row: Row) async throws {
        let authority = try TestAuthority()
        let server = try ScriptedServer { _ in .proper(HTTPResponse(status: 200)) }
        defer { server.stop() }
        let front = try TLSFront(
            try authority.issue(row.name, from: row.from, to: row.to), upstream: server.port)
        defer { front.stop() }
        let file = row.isTrusted ? authority.file : nil
        let result = await HTTPClientTests().perform(
            HTTPRequest(.get, "https://localhost:\(front.port)/"),
            options: HTTPClientOptions(authorityFile: file))
        if let expected = row.expected {
            #expect(HTTPClientTests().code(result) == expected, "\(result)")
        } else {
            #expect(try result.get().status == 200)
        }
    }
}
