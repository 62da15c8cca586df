import CCurl

/// libcurl's result codes as failures, in one place.
enum CurlCode {
    /// What libcurl knows besides its code.
    struct Details {
        var text: String
        /// Of the TLS library.
        var verifyResult: Int
        var usesProxy: Bool
        /// The status with which a proxy answered CONNECT; 0 = it was not asked.
        var connectStatus: Int
        /// The status line of an answer came.
        var hasAnswer: Bool
        var certificates: [CertificateValidity]
    }

    /// OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED.
    private static let opensslTimeErrors: ClosedRange<Int> = 9...10
    /// How OpenSSL and GnuTLS word it; Debian ships libcurl with either.
    private static let timeWords = ["not yet valid", "expired", "expiration", "not activated"]
    /// The alerts by which a server refuses this side's certificate (RFC 8446, section 6.2), as both word them.
    private static let ownCertificateAlerts = [
        "certificate required", "alert bad certificate", "alert unknown ca", "alert certificate expired",
        "alert certificate revoked", "alert certificate unknown", "alert unsupported certificate",
        "bad certificate was received", "certificate is required",
    ]

    static func failure(_ code: CURLcode, _ details: Details, host: String) -> HTTPFailure {
        let kind = kind(code, details, said: details.text.lowercased())
        return HTTPFailure(
            kind, "\(host): \(details.text)", number: Int(code.rawValue),
            certificates: kind == .clock ? details.certificates : [])
    }

    private static func kind(_ code: CURLcode, _ details: Details, said: String) -> HTTPFailure.Code {
        // What a proxy said to CONNECT is the cause, whichever code it has in this version.
        if details.connectStatus == 407 { return .proxyAuthentication }
        if details.connectStatus >= 300 { return .proxyRefused }
        return switch code {
        case CURLE_URL_MALFORMAT: .badRequest
        case CURLE_COULDNT_RESOLVE_HOST: .cannotResolve
        case CURLE_COULDNT_RESOLVE_PROXY: .proxyUnreachable
        case CURLE_COULDNT_CONNECT: details.usesProxy ? .proxyUnreachable : .cannotConnect
        case CURLE_PROXY: .proxyRefused
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION: isAboutTime(said, details.verifyResult) ? .clock : .tls
        case CURLE_SSL_CERTPROBLEM: .clientCertificate
        case CURLE_SSL_CONNECT_ERROR: isAboutOwnCertificate(said) ? .clientCertificate : .tls
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CIPHER, CURLE_SSL_ISSUER_ERROR, CURLE_USE_SSL_FAILED,
            CURLE_SSL_ENGINE_NOTFOUND, CURLE_SSL_INVALIDCERTSTATUS:
            .tls
        // In TLS 1.3 a server refuses a certificate after the handshake.
        case CURLE_SEND_ERROR, CURLE_RECV_ERROR:
            isAboutOwnCertificate(said) ? .clientCertificate : .connectionLost
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: .connectionLost
        case CURLE_WRITE_ERROR, CURLE_FILESIZE_EXCEEDED: .answerTooLarge
        // The scheme was checked before: here it stands for an answer without a status line.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_UNSUPPORTED_PROTOCOL:
            .notHTTP
        case CURLE_ABORTED_BY_CALLBACK: .aborted
        // A line of a header that is too long has a code of its own in newer versions, CURLE_TOO_LARGE, and this in older ones.
        case CURLE_OUT_OF_MEMORY: details.hasAnswer ? .answerTooLarge : .outOfMemory
        case CURLcode(100): .answerTooLarge
        default: .other
        }
    }

    private static func isAboutOwnCertificate(_ said: String) -> Bool {
        ownCertificateAlerts.contains { said.contains($0) }
    }

    private static func isAboutTime(_ said: String, _ verifyResult: Int) -> Bool {
        opensslTimeErrors.contains(verifyResult) || timeWords.contains { said.contains($0) }
    }
}
