import CCurl

/// libcurl's result codes as failures, in one place.
enum CurlCode {
    /// OpenSSL's X509_V_ERR_CERT_NOT_YET_VALID and X509_V_ERR_CERT_HAS_EXPIRED.
    private static let opensslTimeErrors: ClosedRange<Int> = 9...10
    /// How OpenSSL and GnuTLS word it; Debian ships libcurl with either.
    private static let timeWords = ["not yet valid", "expired", "expiration", "not activated"]

    static func failure(_ code: CURLcode, text: String, verifyResult: Int, host: String) -> HTTPFailure {
        let said = text.isEmpty ? String(cString: curl_easy_strerror(code)) : text
        return HTTPFailure(
            kind(code, text: said, verifyResult: verifyResult), "\(host): \(said)", number: Int(code.rawValue)
        )
    }

    private static func kind(_ code: CURLcode, text: String, verifyResult: Int) -> HTTPFailure.Code {
        switch code {
        case CURLE_URL_MALFORMAT: .badRequest
        case CURLE_COULDNT_RESOLVE_HOST, CURLE_COULDNT_RESOLVE_PROXY: .cannotResolve
        case CURLE_COULDNT_CONNECT, CURLE_PROXY: .cannotConnect
        case CURLE_OPERATION_TIMEDOUT: .timedOut
        case CURLE_PEER_FAILED_VERIFICATION: isAboutTime(text, verifyResult) ? .clock : .tls
        case CURLE_SSL_CONNECT_ERROR, CURLE_SSL_CACERT_BADFILE, CURLE_SSL_CERTPROBLEM, CURLE_SSL_CIPHER,
            CURLE_SSL_ISSUER_ERROR, CURLE_USE_SSL_FAILED, CURLE_SSL_ENGINE_NOTFOUND,
            CURLE_SSL_INVALIDCERTSTATUS:
            .tls
        case CURLE_GOT_NOTHING, CURLE_SEND_ERROR, CURLE_RECV_ERROR, CURLE_PARTIAL_FILE: .connectionLost
        case CURLE_WRITE_ERROR, CURLE_FILESIZE_EXCEEDED: .answerTooLarge
        // The scheme was checked before: here it stands for an answer without a status line.
        case CURLE_WEIRD_SERVER_REPLY, CURLE_BAD_CONTENT_ENCODING, CURLE_HTTP2, CURLE_UNSUPPORTED_PROTOCOL:
            .notHTTP
        case CURLE_ABORTED_BY_CALLBACK: .aborted
        case CURLE_OUT_OF_MEMORY: .outOfMemory
        default: .other
        }
    }

    private static func isAboutTime(_ text: String, _ verifyResult: Int) -> Bool {
        let lower = text.lowercased()
        return opensslTimeErrors.contains(verifyResult) || timeWords.contains { lower.contains($0) }
    }
}
