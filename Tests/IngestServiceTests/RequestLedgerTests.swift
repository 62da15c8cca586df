import Testing

@testable import HTTPServer

/// Which requests a stop has to answer for.
@Suite struct RequestLedgerTests {
    let ledger = RequestLedger()
    let exchange = Exchange(
        request: ServerRequest(method: "POST", path: []), refusal: nil)

    @Test func aHandlerThatBeganBeforeItsJudgementHasLeftIsStillAnsweredFor() {
        #expect(ledger.run(exchange) {})
        // The judgement resumed the connection, and the handler is quicker than the judgement's last line.
        #expect(ledger.run(exchange) {})
        ledger.ran(exchange)
        #expect(ledger.isRunning(exchange))
        ledger.ran(exchange)
        #expect(!ledger.isRunning(exchange))
        ledger.ran(exchange)
        #expect(!ledger.isRunning(exchange))
    }

    @Test func whatIsAbandonedRunsNoMore() {
        #expect(ledger.run(exchange) {})
        ledger.stop()
        ledger.abandon(ServerResponse(status: 503))
        #expect(!ledger.isRunning(exchange))
        #expect(!ledger.run(exchange) {})
    }
}
