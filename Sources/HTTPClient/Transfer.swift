import CCurl

/// What one request collects. A class, because libcurl holds a pointer to it while the request runs.
final class Transfer {
    private let answerLimit: Int
    private var body: [UInt8] = []
    private(set) var isTooLarge = false
    var status = 0
    var headers: [HTTPHeader] = []
    /// Of the last handshake, that of the server; empty where the TLS library does not show them.
    private(set) var certificates: [CertificateValidity] = []

    init(answerLimit: Int) { self.answerLimit = answerLimit }

    /// libcurl's CURLOPT_WRITEFUNCTION; taking fewer bytes than offered ends the transfer.
    static let write: bandferry_curl_write = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
    }

    /// libcurl's CURLOPT_DEBUGFUNCTION. It shows headers and bodies, too: nothing of them is looked at.
    static let watch: bandferry_curl_watch = { _, type, bytes, count, context in
        guard type == CURLINFO_SSL_DATA_IN, let bytes, let context else { return 0 }
        let found = CertificateMessage.validities(UnsafeRawBufferPointer(start: bytes, count: count))
        guard !found.isEmpty else { return 0 }
        Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue().certificates = found
        return 0
    }

    func response() -> HTTPResponse { HTTPResponse(status: status, headers: headers, body: body) }

    private func take(_ bytes: UnsafeRawBufferPointer) -> Int {
        guard bytes.count <= answerLimit - body.count else {
            isTooLarge = true
            return 0
        }
        body.append(contentsOf: bytes)
        return bytes.count
    }
}
