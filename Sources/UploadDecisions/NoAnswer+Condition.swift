import Conditions

extension NoAnswer {
    var condition: Condition {
        switch self {
        case .cannotResolve: .serverNameUnknown
        case .cannotConnect: .serverNotReached
        case .timedOut: .serverTimedOut
        case .connectionLost: .connectionBroke
        case .certificateTime: .certificateTime
        case .tls: .tlsFailed
        case .clientCertificate: .clientCertificateFailed
        case .clientKeyUnusable: .clientKeyUnusable
        case .proxyCredentialsUnusable: .proxyCredentialsUnusable
        case .proxyUnreachable: .proxyUnreachable
        case .proxyAuthentication: .proxyAuthenticationFailed
        case .proxyRefused: .proxyRefused
        case .notHTTP: .notHTTP
        case .answerTooLarge: .answerTooLarge
        case .unsendable: .requestFailed
        case .aborted: .uploadStopped
        }
    }
}
