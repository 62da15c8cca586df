import CCurl

/// What one request collects. A class, because libcurl holds a pointer to it while the request runs.
final class Transfer {
    private let answerLimit: Int
    private var body: [UInt8] = []
    private(set) var isTooLarge = false
    var status = 0
    var headers: [HTTPHeader] = []

    init(answerLimit: Int) { self.answerLimit = answerLimit }

    /// libcurl's CURLOPT_WRITEFUNCTION; taking fewer bytes than offered ends the transfer.
    static let write: bandferry_curl_write = { bytes, size, count, context in
        guard let bytes, let context else { return 0 }
        let transfer = Unmanaged<Transfer>.fromOpaque(context).takeUnretainedValue()
        return transfer.take(UnsafeRawBufferPointer(start: bytes, count: size * count))
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
