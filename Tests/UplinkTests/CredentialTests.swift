import HTTPClient
import IngestAPI
import Testing

@testable import Uplink

/// The token and its file.
@Suite struct CredentialTests {
    @Test func aRefusedTokenIsTriedAgainWhenItsFileChanges() {
        let run = Run(token: "old\n")
        run.outbox.add((1...10).map { sample($0) })
        run.server.set(fault: { request, proper in
            guard request.headers.contains(HTTPHeader("Authorization", "Bearer new")) else {
                return .success(ModelServer.error(APIFailure(.authenticationFailed, "")))
            }
            return .success(proper())
        })
        run.pass(.seconds(1800))
        #expect(run.problem == "authentication_failed")
        #expect(run.outbox.count(.pending) == 10)
        run.directory.write("new\n", to: "token")
        run.pass(.seconds(11))
        #expect(run.outbox.count(.confirmed) == 10)
        #expect(run.problem == nil)
    }

    @Test func aTokenFileThatOthersCanReadIsNotUsed() {
        for mode in [0o644, 0o640, 0o604, 0o660] {
            let run = Run(token: nil)
            run.directory.write("secret", to: "token", mode: mode)
            run.outbox.add([sample(1)])
            run.pass(.seconds(100))
            #expect(run.problem == "token_readable_by_others")
            #expect(run.server.contents.value.tokens.isEmpty)
            run.directory.write("secret", to: "token", mode: 0o600)
            run.pass(.seconds(11))
            #expect(run.problem == nil)
            #expect(run.outbox.count(.confirmed) == 1)
        }
    }

    @Test(arguments: [
        "", " \n", "two words", "a\nb", "na\u{ef}ve", "bell\u{7}", String(repeating: "x", count: 5000),
    ])
    func aTokenThatCouldEndTheHeaderLineIsNotUsed(_ text: String) {
        let run = Run(token: text)
        run.outbox.add([sample(1)])
        run.pass(.seconds(100))
        #expect(run.problem == "token_malformed")
        #expect(run.log.isEmpty)
    }

    @Test func aMissingTokenFileIsWaitedFor() {
        let run = Run(token: nil)
        run.outbox.add([sample(1)])
        run.pass(.seconds(100))
        #expect(run.problem == "token_unreadable")
        run.directory.write("secret", to: "token")
        run.pass(.seconds(11))
        #expect(run.outbox.count(.confirmed) == 1)
    }

    @Test func theTokenIsInNoEventAndNoProblem() {
        let run = Run(token: "tell-nobody\n")
        run.outbox.add((1...3).map { sample($0) })
        run.server.set(fault: { _, _ in .success(ModelServer.error(APIFailure(.forbidden, ""))) })
        run.pass(.seconds(100))
        let said = run.events.value.map { "\($0.text) \($0.fields)" }.joined() + "\(run.board.snapshot)"
        #expect(run.problem == "forbidden")
        #expect(!said.contains("tell-nobody"))
        #expect(!said.contains("72"), "nor is a value of a sample")
    }
}
