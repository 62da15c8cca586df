import Foundation
import IngestAPI
import Testing

/// `bandferry-ingest` as a process: its command line, its exit statuses, its stop and a full disk.
@Suite struct ProgramTests {
    private func files() throws -> (directory: TemporaryDirectory, store: String, tokens: String) {
        let directory = TemporaryDirectory()
        let tokens = directory.path + "/tokens"
        try Data("gateway-a a\n".utf8).write(to: URL(fileURLWithPath: tokens))
        try FileManager.default.setAttributes([.posixPermissions: 0o600], ofItemAtPath: tokens)
        return (directory, directory.path + "/store.sqlite", tokens)
    }

    @Test func itServesUntilSIGTERMAndKeepsWhatItAnswered() async throws {
        let (directory, store, tokens) = try files()
        let program = try IngestProgram([
            "--listen", "127.0.0.1:0", "--store=sqlite:\(store)", "--token-file", tokens,
        ])
        let url = try program.url()
        let client = TestClient(url, token: "gateway-a")
        #expect(try await client.get("/healthz").status == 200)
        let answer = try await client.store(batch([sample(1), sample(2)]))
        #expect(answer.accepted == 2)
        #expect(program.stop() == 0)
        #expect(!FileManager.default.fileExists(atPath: store + "-wal"))
        let again = try IngestProgram([
            "--listen", "127.0.0.1:0", "--store", "sqlite:\(store)", "--token-file", tokens,
        ])
        let second = try await TestClient(again.url(), token: "gateway-a").store(
            batch([sample(2), sample(3)]))
        #expect((second.accepted, second.duplicates) == (1, 1))
        #expect(again.stop() == 0)
        withExtendedLifetime(directory) {}
    }

    @Test func noLogLineHoldsATokenAValueOrAName() async throws {
        let (directory, store, tokens) = try files()
        let program = try IngestProgram([
            "--listen", "127.0.0.1:0", "--store", "sqlite:\(store)", "--token-file", tokens,
        ])
        let client = TestClient(try program.url(), token: "gateway-a")
        _ = try await client.store(
            batch([sample(1, value: 299, person: .assigned("ann-bell"))], device: "secret_band"))
        _ = try await client.send(
            .post, "/v1/samples:batch", Array(#"{"device_id":"secret_band","value":299}"#.utf8))
        try FileManager.default.moveItem(atPath: store, toPath: store + ".away")
        #expect(try await client.post(batch([sample(2, value: 299)], device: "secret_band")).status == 503)
        try FileManager.default.moveItem(atPath: store + ".away", toPath: store)
        #expect(program.stop() == 0)
        // The directory's name and the port are random and may hold any digits.
        let port = try #require(try program.url().split(separator: ":").last)
        let log = program.errorText.replacing(directory.path, with: "").replacing(":\(port)", with: "")
        #expect(log.contains("storage fails"))
        for secret in ["gateway-a", "299", "secret_band", "ann-bell"] { #expect(!log.contains(secret)) }
        withExtendedLifetime(directory) {}
    }

    @Test(
        arguments: [
            ([], 64, "--listen is missing"),
            (["--listen", "127.0.0.1:0", "--store", "STORE"], 78, "bandferry-ingest token create"),
            (
                ["--listen", "127.0.0.1:0", "--store", "STORE", "--tls-key", "TOKENS"], 64,
                "--tls-certificate is missing"
            ),
            (
                [
                    "--listen", "127.0.0.1:0", "--store", "STORE", "--tls-certificate", "TOKENS",
                    "--tls-key", "OPEN",
                ], 78, "chmod 600"
            ),
            (
                [
                    "--listen", "127.0.0.1:0", "--store", "STORE", "--tls-certificate", "OPEN",
                    "--tls-key", "TOKENS",
                ], 78, "TLS certificate"
            ),
            (["serve"], 64, "serve is not a command"),
            (
                ["token", "create", "--store", "STORE", "--account", "a", "--role", "admin"], 64,
                "--role admin"
            ),
            (
                ["token", "create", "--store", "STORE", "--account", "a", "--role", "read"], 74,
                "there is no store"
            ),
            (["token", "revoke", "01234567", "--store", "STORE"], 74, "there is no store"),
            (["account", "create", "a b", "--store", "STORE"], 64, "a b: an account's name"),
            (
                ["--listen", "nonsense", "--store", "STORE", "--token-file", "TOKENS"], 64,
                "--listen nonsense"
            ),
            (
                ["--listen", "127.0.0.1:0", "--store", "postgres:x", "--token-file", "TOKENS"], 64,
                "--store is neither"
            ),
            (
                ["--listen", "127.0.0.1:0", "--store", "STORE", "--token-file", "TOKENS", "--fast"], 64,
                "--fast"
            ),
            (["--listen"], 64, "--listen needs a value"),
            (
                ["--listen", "0.0.0.0:0", "--store", "STORE", "--token-file", "TOKENS"], 78,
                "--allow-plain-http"
            ),
            (
                ["--listen", "127.0.0.1:0", "--store", "STORE", "--token-file", "/nonexistent"], 78,
                "/nonexistent"
            ),
            (["--listen", "127.0.0.1:0", "--store", "STORE", "--token-file", "OPEN"], 78, "chmod 600"),
            (
                [
                    "--listen", "192.0.2.1:0", "--allow-plain-http", "--store", "STORE", "--token-file",
                    "TOKENS",
                ], 69, "192.0.2.1"
            ),
            (
                ["--listen", "127.0.0.1:0", "--store", "sqlite:/nonexistent/x", "--token-file", "TOKENS"], 74,
                "/nonexistent/x"
            ),
            (["--listen", "127.0.0.1:0", "--store", "NOISE", "--token-file", "TOKENS"], 65, "damaged"),
            (
                [
                    "--listen", "127.0.0.1:0", "--store", "STORE", "--token-file", "TOKENS", "--dashboard",
                    "/nonexistent",
                ], 78, "/nonexistent/index.html"
            ),
        ] as [([String], Int32, String)])
    func whatItCannotDoIsSaidWithAStatus(_ arguments: [String], _ status: Int32, _ text: String) throws {
        let (directory, store, tokens) = try files()
        let open = directory.path + "/open"
        try Data("x\n".utf8).write(to: URL(fileURLWithPath: open))
        try FileManager.default.setAttributes([.posixPermissions: 0o644], ofItemAtPath: open)
        let noise = directory.path + "/noise"
        try Data(repeating: 0x2a, count: 8192).write(to: URL(fileURLWithPath: noise))
        let names = ["STORE": "sqlite:" + store, "TOKENS": tokens, "OPEN": open, "NOISE": "sqlite:" + noise]
        let program = try IngestProgram(arguments.map { names[$0] ?? $0 })
        #expect(program.wait() == status)
        #expect(program.errorText.contains(text), "\(program.errorText)")
        #expect(program.errorText.split(separator: "\n").count == 1)
        #expect(program.outputText.isEmpty)
    }

    @Test func aTokenIsShownOnceAndRefusedWhenItIsRevoked() async throws {
        let (directory, store, _) = try files()
        func run(_ arguments: String...) throws -> (output: String, errors: String) {
            let program = try IngestProgram(arguments + ["--store", "sqlite:\(store)"])
            #expect(program.wait() == 0)
            return (program.outputText, program.errorText)
        }
        #expect(try run("account", "create", "clinic").errors == "account clinic is made\n")
        let made = try run("token", "create", "--account", "clinic", "--role", "gateway", "--label", "Room 1")
        let token = try #require(made.output.split(separator: "\n").first.map(String.init))
        #expect(made.output == token + "\n")
        #expect(token.wholeMatch(of: /bft_[A-Za-z0-9_-]{43}/) != nil)
        #expect(!made.errors.contains(token))
        let list = try run("token", "list").output
        #expect(list.contains("clinic") && list.contains("Room 1") && !list.contains(token))
        let file = directory.path + "/reader"
        let other = try run("token", "create", "--account", "clinic", "--role", "read", "--output", file)
        #expect(other.output.isEmpty)
        #expect(
            try FileManager.default.attributesOfItem(atPath: file)[.posixPermissions] as? Int == 0o600)

        let program = try IngestProgram(["--listen", "127.0.0.1:0", "--store", "sqlite:\(store)"])
        let url = try program.url()
        #expect(try await TestClient(url, token: token).store(batch([sample(1)])).accepted == 1)
        let reader = try String(contentsOfFile: file, encoding: .utf8).split(separator: "\n")[0]
        #expect(try await TestClient(url, token: String(reader)).get("/v1/devices").status == 200)
        #expect(try await TestClient(url, token: token + "x").get("/v1/devices").status == 401)
        let id = try #require(made.errors.split(separator: " ").dropFirst().first.map(String.init))
        _ = try run("token", "revoke", id)
        // Until what is known of it is ten seconds old it may pass.
        var status = 200
        let deadline = ContinuousClock.now + .seconds(60)
        while status == 200, ContinuousClock.now < deadline {
            try await Task.sleep(for: .milliseconds(200))
            status = try await TestClient(url, token: token).get("/v1/devices").status
        }
        #expect(status == 401)
        #expect(program.stop() == 0)
        #expect(!program.errorText.contains(token))
    }

    @Test func helpAndVersionGoToStandardOutput() throws {
        for (option, text) in [("--help", "token create"), ("--version", "bandferry-ingest ")] {
            let program = try IngestProgram([option])
            #expect(program.wait() == 0)
            #expect(program.outputText.contains(text))
            #expect(program.errorText.isEmpty)
        }
    }

    /// The kernel's limit on a file's size stands for a full disk: the same write fails at the same place.
    @Test func aFullDiskIsAnErrorThatHealsAndNothingAnsweredIsLost() async throws {
        let (directory, store, tokens) = try files()
        let program = try IngestProgram([
            "--listen", "127.0.0.1:0", "--store", "sqlite:\(store)", "--token-file", tokens,
        ])
        let client = TestClient(try program.url(), token: "gateway-a")
        _ = try await client.store(batch([sample(1)]))
        try program.limitFileSize("300000")
        var answered: UInt32 = 1
        var failures = 0
        // Each failure makes room in the log for a while.
        for start in stride(from: UInt32(2), to: 1_000_000, by: 500) where failures < 3 {
            let reply = try await client.post(batch((0..<500).map { sample(start + $0) }))
            if reply.status == 200 {
                answered += 500
            } else {
                #expect(reply.status == 503)
                #expect(reply.code == "server_error")
                failures += 1
            }
        }
        #expect(failures == 3)
        #expect(try await client.get("/healthz").status == 503)
        // What is stored can still be read.
        let state: DeviceState = try await client.get("/v1/devices/band_F0F1F2F3F4F5").read()
        #expect(state.counts == ["heart_rate": Int(answered)])
        try program.limitFileSize("unlimited")
        let healed = try await client.store(batch((0..<500).map { sample(2_000_000 + $0) }))
        #expect(healed.accepted == 500)
        #expect(try await client.get("/healthz").status == 200)
        #expect(program.stop() == 0)
        let again = try await TestServer.reopened(store)
        #expect(again == Int(answered) + 500)
        withExtendedLifetime(directory) {}
    }
}
