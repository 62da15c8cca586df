import Compression
import Foundation
import HTTPServer
import Testing

@testable import IngestService

@Suite struct StaticFilesTests {
    private static let text = String(repeating: "All that a page says. ", count: 50)

    private static let files: StaticFiles = {
        var files = StaticFiles.none
        files.add(path: "", contentType: "text/html; charset=utf-8", bytes: Array(text.utf8))
        files.add(
            path: "dashboard/views/a.js", contentType: "text/javascript; charset=utf-8", bytes: [1, 2, 3])
        return files
    }()

    private func get(
        _ path: [String], method: String = "GET", _ headers: [(String, String)] = []
    ) -> ServerResponse? {
        Self.files.response(
            to: ServerRequest(method: method, path: path, headers: headers.map { HTTPField($0.0, $0.1) }))
    }

    @Test func aFileIsAnsweredWithItsTypeAndATag() throws {
        let response = try #require(get([""]))
        #expect(response.status == 200)
        #expect(response.body == Array(Self.text.utf8))
        #expect(response.header("Content-Type") == "text/html; charset=utf-8")
        #expect(response.header("Cache-Control") == "no-cache")
        #expect(response.header("Vary") == "Accept-Encoding")
        #expect(response.header("Content-Encoding") == nil)
        let tag = try #require(response.header("ETag"))
        #expect(tag.count == 34 && tag.hasPrefix("\"") && tag.hasSuffix("\""))
        #expect(get(["dashboard", "views", "a.js"])?.header("ETag") != tag)
    }

    @Test func thePageMayDoOnlyWhatItNeeds() throws {
        let response = try #require(get([""]))
        let policy = try #require(response.header("Content-Security-Policy"))
        let rules = policy.split(separator: "; ").map(String.init)
        #expect(rules.first == "default-src 'none'")
        #expect(rules.contains("script-src 'self'") && rules.contains("connect-src 'self'"))
        #expect(rules.contains("frame-ancestors 'none'") && rules.contains("base-uri 'none'"))
        for loose in ["unsafe-inline", "unsafe-eval", "http:", "https:", "*", "blob:"] {
            #expect(!policy.contains(loose))
        }
        #expect(response.header("Referrer-Policy") == "no-referrer")
        #expect(response.header("X-Content-Type-Options") == "nosniff")
        #expect(response.header("Cross-Origin-Resource-Policy") == "same-origin")
    }

    @Test(
        arguments: [
            (["gzip"], true), (["gzip, deflate, br"], true), (["deflate", "x-gzip;q=0.5"], true),
            (["*"], true),
            (["*;q=0, gzip;q=1.0"], true), (["GZIP"], true), ([], false), (["br"], false),
            (["gzip;q=0"], false),
            (["gzip ; q=0.000"], false), (["*;q=0"], false), (["*, gzip;q=0"], false), ([""], false),
            (["gzip;q=nonsense"], false),
        ] as [([String], Bool)])
    func whoTakesGzipGetsIt(_ values: [String], _ expected: Bool) throws {
        let response = try #require(get([""], values.map { ("Accept-Encoding", $0) }))
        #expect((response.header("Content-Encoding") == "gzip") == expected)
        let bytes = expected ? try Gzip.decompress(response.body, limit: 1 << 20) : response.body
        #expect(bytes == Array(Self.text.utf8))
    }

    @Test func whatGzipWouldNotMakeSmallerIsSentAsItIs() throws {
        let response = try #require(get(["dashboard", "views", "a.js"], [("Accept-Encoding", "gzip")]))
        #expect(response.body == [1, 2, 3])
        #expect(response.header("Content-Encoding") == nil)
    }

    @Test func aCopyThatIsStillGoodIsNotSentAgain() throws {
        let plain = try #require(get([""])?.header("ETag"))
        let gzip = try #require(get([""], [("Accept-Encoding", "gzip")])?.header("ETag"))
        #expect(plain != gzip)
        for known in [plain, "W/\(plain)", "\"x\", \(plain) ,\"y\"", "*"] {
            let response = try #require(get([""], [("If-None-Match", known)]))
            #expect(response.status == 304)
            #expect(response.body.isEmpty)
            #expect(response.header("ETag") == plain)
        }
        for other in [gzip, "\"x\"", "", plain.replacing("\"", with: "")] {
            #expect(get([""], [("If-None-Match", other)])?.status == 200)
        }
    }

    @Test(arguments: [
        [], ["index.html"], ["dashboard"], ["dashboard", ""], ["dashboard", "views"],
        ["dashboard", "views", "b.js"],
        ["dashboard", "views", "..", "views", "a.js"], ["dashboard", "views/a.js"],
        ["dashboard", "VIEWS", "a.js"],
        ["", ""], ["dashboard", "views", "a.js", ""], ["dashboard", "views", "a.js\u{0}"], ["etc", "passwd"],
    ])
    func nothingElseIsThere(_ path: [String]) {
        #expect(get(path) == nil)
    }

    @Test func filesAreOnlyRead() {
        for method in ["POST", "PUT", "DELETE", "OPTIONS", "get"] {
            #expect(get([""], method: method) == nil)
        }
        #expect(get([""], method: "HEAD") == get([""]))
    }
}

extension ServerResponse {
    func header(_ name: String) -> String? { headers.first { $0.name == name }?.value }
}
