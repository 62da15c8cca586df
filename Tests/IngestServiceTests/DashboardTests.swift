import Foundation
import HTTPServer
import Testing

@testable import IngestService
@testable import IngestStore

/// Which files make the page, and where they are looked for.
@Suite struct DashboardTests {
    private static let checkout = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().path

    private func body(_ dashboard: Dashboard, _ path: [String]) -> String? {
        dashboard.files.response(to: ServerRequest(method: "GET", path: path)).map {
            String(decoding: $0.body, as: UTF8.self)
        }
    }

    private func write(_ text: String, _ path: String) throws {
        let url = URL(fileURLWithPath: path)
        try FileManager.default.createDirectory(
            at: url.deletingLastPathComponent(), withIntermediateDirectories: true)
        try Data(text.utf8).write(to: url)
    }

    /// A copy of the page in which each file says its own name.
    private func page(_ directory: String) throws {
        for name in Dashboard.names { try write(name, "\(directory)/\(name)") }
    }

    /// A file that nobody added to the list would be missing once it is installed.
    @Test func theListNamesEveryFileOfTheDirectory() throws {
        let directory = Self.checkout + "/dashboard"
        let found = FileManager.default.enumerator(atPath: directory)?.compactMap { $0 as? String }
            .filter { $0.contains(".") }
        #expect(found?.sorted() == Dashboard.names.sorted())
    }

    @Test func everyFileIsServedUnderItsName() throws {
        let directory = TemporaryDirectory()
        try page(directory.path)
        let dashboard = try Dashboard.read(.init(directory: directory.path), program: nil, chartFiles: [])
        for name in Dashboard.names.dropFirst() {
            #expect(body(dashboard, ["dashboard"] + name.split(separator: "/").map(String.init)) == name)
        }
        #expect(body(dashboard, [""]) == "index.html")
        #expect(body(dashboard, ["dashboard", "index.html"]) == nil)
    }

    @Test func aProgramFindsThePageBesideItsPrefixOrInItsCheckout() {
        func places(_ program: String) -> [String] { Dashboard.directories(program: program) }
        #expect(places("/usr/local/bin/bandferry-ingest") == ["/usr/local/share/bandferry/dashboard"])
        #expect(places("/bin/bandferry-ingest") == ["/share/bandferry/dashboard"])
        #expect(places("/home/a/b/.build/x86_64/release/bandferry-ingest") == ["/home/a/b/dashboard"])
        #expect(places("/tmp/x/bandferry-ingest") == [])
        #expect(places("bandferry-ingest") == [])
    }

    @Test func whatIsNotFoundIsANoteAndWhatIsNamedMustBeThere() throws {
        let directory = TemporaryDirectory()
        let program = directory.path + "/bin/bandferry-ingest"
        let home = directory.path + "/share/bandferry/dashboard"
        func read(_ places: Dashboard.Places) throws -> Dashboard {
            try Dashboard.read(places, program: program, chartFiles: [directory.path + "/no.js"])
        }
        #expect(try read(.init()).notes == [.pageMissing(lookedIn: [home])])
        #expect(try body(read(.init()), [""]) == nil)
        try page(home)
        #expect(try body(read(.init()), [""]) == "index.html")
        #expect(try read(.init()).notes == [.chartsMissing(lookedFor: [directory.path + "/no.js"])])
        try FileManager.default.removeItem(atPath: home + "/app.js")
        let broken = try read(.init())
        guard case .pageUnreadable(let failure) = broken.notes.first else {
            Issue.record("\(broken.notes)")
            return
        }
        #expect(failure.path == home + "/app.js")
        // Half a page is worse than none.
        #expect(body(broken, [""]) == nil)
        #expect(throws: FileFailure.self) { try read(.init(directory: home)) }
        #expect(throws: FileFailure.self) { try read(.init(directory: directory.path + "/nowhere")) }
        #expect(try read(.init(directory: "none")).notes == [])
        #expect(try body(read(.init(directory: "none")), [""]) == nil)
    }

    @Test func chartsComeFromWhereTheyAreOrAStandInSaysThatThereAreNone() throws {
        let directory = TemporaryDirectory()
        try page(directory.path)
        try write("charts", directory.path + "/elsewhere/chart.js")
        let path = ["dashboard", "chart.js"]
        let found = try Dashboard.read(
            .init(directory: directory.path), program: nil,
            chartFiles: [directory.path + "/no.js", directory.path + "/elsewhere/chart.js"])
        #expect(body(found, path) == "charts")
        #expect(found.notes == [])
        let none = try Dashboard.read(.init(directory: directory.path), program: nil, chartFiles: [])
        #expect(body(none, path) == "// Chart.js is not installed on this server.\n")
        #expect(none.notes == [.chartsMissing(lookedFor: [])])
        let named = Dashboard.Places(
            directory: directory.path, chartFile: directory.path + "/elsewhere/chart.js")
        #expect(try body(Dashboard.read(named, program: nil, chartFiles: []), path) == "charts")
        let wrong = Dashboard.Places(directory: directory.path, chartFile: directory.path + "/no.js")
        #expect(throws: FileFailure.self) { try Dashboard.read(wrong, program: nil) }
    }

    @Test func thePageIsForEverybodyAndTheDataIsNot() async throws {
        let dashboard = try Dashboard.read(
            .init(directory: Self.checkout + "/dashboard"), program: nil, chartFiles: [])
        let directory = TemporaryDirectory()
        let storage = try await DatabaseStorage(
            TestEngine.make(directory), now: WallClock.now, rests: .untilClosed)
        let service = IngestService(
            storage: storage, tokens: TokenTable(["t": Identity(account: "a")]), dashboard: dashboard.files)
        let server = try IngestServer(service: service, storage: storage)
        let client = TestClient(server.url, token: nil)
        let page = try await client.get("/")
        #expect(page.status == 200)
        #expect(page.text.contains("<title>Bandferry</title>"))
        #expect(try await client.get("/dashboard/views/today.js").status == 200)
        let tag = try #require(page.header("etag"))
        let again = try await client.send(.get, "/", headers: ["If-None-Match": tag])
        #expect(again.status == 304)
        #expect(again.body.isEmpty)
        for path in ["/v1/persons", "/dashboard/", "/dashboard/x.js", "/dashboard/%2e%2e/%2e%2e/etc/passwd"] {
            #expect(try await client.get(path).status == 401)
        }
        #expect(try await client.send(.post, "/").status == 401)
        await server.stop(within: .seconds(60))
    }
}
