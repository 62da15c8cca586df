import Conditions

/// What to do about a kind of failure, for programs and for people.
struct BlueZAdvice: Equatable, Sendable {
    var condition: Condition
    var retry: BlueZRetry
    /// An error number of the band's, where the condition names one.
    var error: String

    private init(_ condition: Condition, _ retry: BlueZRetry, error: String = "") {
        self.condition = condition
        self.retry = retry
        self.error = error
    }

    static func of(_ kind: BlueZFailureKind) -> BlueZAdvice {
        switch kind {
        case .transient: BlueZAdvice(.bandUnreachable, .backOff)
        case .notConnected: BlueZAdvice(.linkLost, .reconnect)
        case .inProgress: BlueZAdvice(.busy, .backOff)
        case .heldByAnother: BlueZAdvice(.heldByAnotherProgram, .backOff)
        case .notPermitted: BlueZAdvice(.notPermitted, .afterHelp)
        case .notPaired: BlueZAdvice(.notPaired, .backOff)
        case .authentication: BlueZAdvice(.pairingFailed, .afterHelp)
        case .keyMissing: BlueZAdvice(.bondLost, .afterHelp)
        case .gone: BlueZAdvice(.bandForgotten, .rediscover)
        case .noService: BlueZAdvice(.noBandHistory, .reconnect)
        case .notReady: BlueZAdvice(.adapterOff, .whenAdapterIsReady)
        case .blocked: BlueZAdvice(.adapterBlocked, .afterHelp)
        case .adapterFault: BlueZAdvice(.adapterFault, .backOff)
        case .tooManyLinks: BlueZAdvice(.tooManyLinks, .backOff)
        case .applicationError(let code): ofApplicationError(code)
        case .attributeError(let code): BlueZAdvice(.attributeError, .reconnect, error: hexadecimal(code))
        case .unsupported: BlueZAdvice(.unsupported, .afterHelp)
        case .invalidCall: BlueZAdvice(.invalidCall, .reconnect)
        case .alreadyDone: BlueZAdvice(.alreadyDone, .goOn)
        case .deadline: BlueZAdvice(.noAnswer, .reconnect)
        case .serviceGone: BlueZAdvice(.bluetoothdGone, .whenServiceIsBack)
        case .busGone: BlueZAdvice(.busGone, .whenBusIsBack)
        case .accessDenied: BlueZAdvice(.accessDenied, .afterHelp)
        case .cancelled: BlueZAdvice(.cancelled, .backOff)
        case .unknown: BlueZAdvice(.unknown, .reconnect)
        }
    }

    /// Band History Profile 1, "Streams".
    private static func ofApplicationError(_ code: UInt8) -> BlueZAdvice {
        let condition: Condition =
            switch code {
            case 0x80: .bandBusy
            case 0x81: .bandKnowsNoCommand
            case 0x82: .bandWrongLength
            case 0x83: .bandNotSubscribed
            default: .bandError
            }
        return BlueZAdvice(condition, .backOff, error: hexadecimal(code))
    }
}

private func hexadecimal(_ code: UInt8) -> String {
    (code < 16 ? "0x0" : "0x") + String(code, radix: 16)
}
