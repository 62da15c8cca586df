import CCurl

/// libcurl's easy handle with the options of one request on it.
final class CurlHandle {
    let pointer: UnsafeMutableRawPointer
    private let curl: CurlLibrary
    private let errorText: UnsafeMutablePointer<CChar>
    private var headerList: UnsafeMutablePointer<curl_slist>?
    private var isOpen = true
    private var usesProxy = false

    init(_ pointer: UnsafeMutableRawPointer, of curl: CurlLibrary) {
        self.pointer = pointer
        self.curl = curl
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
    }

    deinit { close() }

    /// Before the multi handle that it was used with goes.
    func close() {
        guard isOpen else { return }
        isOpen = false
        curl.functions.easy_cleanup(pointer)
        curl.functions.slist_free_all(headerList)
        errorText.deallocate()
    }

    /// Forgets the request; live connections and the name cache stay.
    func reset() {
        curl.functions.easy_reset(pointer)
        curl.functions.slist_free_all(headerList)
        headerList = nil
    }

    func prepare(
        _ request: HTTPRequest, target: RequestTarget, body: UnsafeRawBufferPointer, transfer: Transfer,
        options: HTTPClientOptions
    ) throws(HTTPFailure) {
        errorText[0] = 0
        try check(bandferry_curl_set_error_buffer(curl.functions, pointer, errorText))
        try set(CURLOPT_URL, request.url)
        // An id in the path may look like a step in it.
        try set(CURLOPT_PATH_AS_IS, 1)
        try set(CURLOPT_NOSIGNAL, 1)
        // A name look-up that hangs must not hold up a stop.
        try set(CURLOPT_QUICK_EXIT, 1)
        try set(CURLOPT_USERAGENT, "bandferry")
        // One protocol version, one state machine: batches gain nothing from HTTP/2's streams.
        try set(CURLOPT_HTTP_VERSION, Int(CURL_HTTP_VERSION_1_1))
        try confine(target)
        if let authorityFile = options.authorityFile {
            try set(CURLOPT_CAINFO, authorityFile)
            try set(CURLOPT_PROXY_CAINFO, authorityFile)
        }
        try set(options.proxy(for: target), credentials: options.proxyCredentials)
        if let own = options.clientCertificate { try set(own) }
        try set(request.deadlines)
        try set(request.headers)
        try setMethod(request.method, body: body)
        try check(
            bandferry_curl_set_write(
                curl.functions, pointer, Transfer.write, Unmanaged.passUnretained(transfer).toOpaque()))
        guard target.isEncrypted else { return }
        try check(
            bandferry_curl_set_watch(
                curl.functions, pointer, Transfer.watch, Unmanaged.passUnretained(transfer).toOpaque()))
    }

    /// Reads what is known after the transfer, or throws why there was none.
    func finish(target: RequestTarget, transfer: Transfer, result: CURLcode) throws(HTTPFailure) {
        guard result == CURLE_OK else {
            if result == CURLE_WRITE_ERROR, transfer.isTooLarge {
                throw HTTPFailure(.answerTooLarge, "\(target.host): the answer is too large.")
            }
            let said = String(cString: errorText)
            let details = CurlCode.Details(
                text: said.isEmpty ? curl.text(result) : said, verifyResult: long(CURLINFO_SSL_VERIFYRESULT),
                usesProxy: usesProxy, connectStatus: long(CURLINFO_HTTP_CONNECTCODE),
                hasAnswer: long(CURLINFO_RESPONSE_CODE) > 0, certificates: transfer.certificates)
            throw CurlCode.failure(result, details, host: target.host)
        }
        transfer.status = long(CURLINFO_RESPONSE_CODE)
        transfer.headers = readHeaders()
    }

    // MARK: options

    /// Nothing but HTTP, no second host, and the certificate must be the host's.
    private func confine(_ target: RequestTarget) throws(HTTPFailure) {
        try set(CURLOPT_PROTOCOLS_STR, "http,https")
        try set(CURLOPT_FOLLOWLOCATION, 0)
        try set(CURLOPT_SSL_VERIFYPEER, 1)
        try set(CURLOPT_SSL_VERIFYHOST, 2)
        // CURL_NETRC_IGNORED, an enumeration in older headers and a macro in newer ones.
        try set(CURLOPT_NETRC, 0)
    }

    private func set(_ proxy: HTTPProxy, credentials: ProxyCredentials?) throws(HTTPFailure) {
        usesProxy = false
        switch proxy {
        // An empty name also keeps libcurl from asking the environment.
        case .none:
            return try set(CURLOPT_PROXY, "")
        case .environment:
            break
        case .server(let url):
            usesProxy = true
            try set(CURLOPT_PROXY, url)
            // No name is left out of it: what the environment says does not count.
            try set(CURLOPT_NOPROXY, "")
        }
        // CURLHEADER_SEPARATE: the token is for the server alone.
        try set(CURLOPT_HEADEROPT, 1)
        try set(CURLOPT_PROXY_SSL_VERIFYPEER, 1)
        try set(CURLOPT_PROXY_SSL_VERIFYHOST, 2)
        guard let credentials else { return }
        try set(CURLOPT_PROXYAUTH, Self.basic | Self.digest)
        try set(CURLOPT_PROXYUSERNAME, credentials.user)
        try set(CURLOPT_PROXYPASSWORD, credentials.password)
    }

    /// CURLAUTH_BASIC and CURLAUTH_DIGEST, macros with a cast.
    private static let basic = 1
    private static let digest = 2

    private func set(_ own: ClientCertificate) throws(HTTPFailure) {
        try set(CURLOPT_SSLCERT, own.certificateFile)
        try set(CURLOPT_SSLKEY, own.keyFile)
        // Without one OpenSSL would ask the terminal for the passphrase of a key that has one.
        try set(CURLOPT_KEYPASSWD, "")
    }

    private func set(_ deadlines: HTTPDeadlines) throws(HTTPFailure) {
        try set(CURLOPT_CONNECTTIMEOUT_MS, deadlines.connect.wholeMilliseconds)
        try set(CURLOPT_TIMEOUT_MS, deadlines.total.wholeMilliseconds)
        guard deadlines.lowSpeed > .zero else { return }
        try set(CURLOPT_LOW_SPEED_TIME, max(1, deadlines.lowSpeed.wholeMilliseconds / 1000))
        try set(CURLOPT_LOW_SPEED_LIMIT, max(1, deadlines.lowSpeedBytesPerSecond))
    }

    private func set(_ headers: [HTTPHeader]) throws(HTTPFailure) {
        // An empty `Expect:` saves the round trip that libcurl would wait for before a large body.
        var lines = ["Expect:"]
        // libcurl's own form of a header without a value is a semicolon.
        lines += headers.map { $0.value.isEmpty ? "\($0.name);" : "\($0.name): \($0.value)" }
        for line in lines {
            guard let longer = curl.functions.slist_append(headerList, line) else {
                throw HTTPFailure(.outOfMemory, "No memory for a header.")
            }
            headerList = longer
        }
        try check(bandferry_curl_set_headers(curl.functions, pointer, headerList))
    }

    private func setMethod(_ method: HTTPRequest.Method, body: UnsafeRawBufferPointer) throws(HTTPFailure) {
        switch method {
        case .get:
            try set(CURLOPT_HTTPGET, 1)
        case .post, .put:
            try set(CURLOPT_POST, 1)
            // An empty buffer may have no address, and nil would make libcurl ask for the body elsewhere.
            let empty: StaticString = ""
            let start = body.baseAddress ?? UnsafeRawPointer(empty.utf8Start)
            try check(bandferry_curl_set_body(curl.functions, pointer, start, curl_off_t(body.count)))
            if method == .put { try set(CURLOPT_CUSTOMREQUEST, method.rawValue) }
        case .delete:
            try set(CURLOPT_CUSTOMREQUEST, method.rawValue)
        }
    }

    private func set(_ option: CURLoption, _ value: Int) throws(HTTPFailure) {
        try check(bandferry_curl_set_long(curl.functions, pointer, option, value))
    }

    private func set(_ option: CURLoption, _ value: String) throws(HTTPFailure) {
        try check(bandferry_curl_set_string(curl.functions, pointer, option, value))
    }

    private func check(_ code: CURLcode) throws(HTTPFailure) {
        guard code == CURLE_OK else {
            throw HTTPFailure(
                .badRequest, curl.text(code), number: Int(code.rawValue))
        }
    }

    // MARK: what came back

    private func long(_ info: CURLINFO) -> Int {
        var value = 0
        return bandferry_curl_get_long(curl.functions, pointer, info, &value) == CURLE_OK ? value : 0
    }

    /// However many others come before them.
    private func readHeaders() -> [HTTPHeader] {
        var headers: [HTTPHeader] = []
        var last: UnsafeMutablePointer<curl_header>?
        var others = 0
        while headers.count < 128,
            let next = curl.functions.easy_nextheader(pointer, UInt32(CURLH_HEADER), -1, last)
        {
            last = next
            let name = String(cString: next.pointee.name)
            if !HTTPResponse.neededHeaders.contains(name.lowercased()) {
                guard others < 64 else { continue }
                others += 1
            }
            headers.append(HTTPHeader(name, String(cString: next.pointee.value)))
        }
        return headers
    }
}

extension Duration {
    /// Never 0, which libcurl takes for "no limit".
    fileprivate var wholeMilliseconds: Int {
        let (seconds, attoseconds) = components
        return max(1, Int(min(seconds, 86_400)) * 1000 + Int(attoseconds / 1_000_000_000_000_000))
    }
}
