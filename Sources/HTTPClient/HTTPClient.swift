import CCurl
import Glibc

/// HTTP over libcurl for one thread of the caller's own: `perform` blocks, so it never runs on Swift's shared pool.
///
/// One handle and its connections are reused. TLS verification is always on, redirects are never followed, and
/// only http and https are spoken. Not `Sendable` on purpose: create it on the thread that uses it.
public final class HTTPClient {
    private let curl: CurlLibrary
    private let easy: CurlHandle
    private let multi: OpaquePointer
    private let abortFlag: AbortFlag
    private let options: HTTPClientOptions

    public init(
        abortFlag: AbortFlag = AbortFlag(), options: HTTPClientOptions = HTTPClientOptions()
    ) throws(HTTPFailure) {
        curl = try CurlLibrary.loaded()
        guard let easy = curl.functions.easy_init() else {
            throw HTTPFailure(.outOfMemory, "libcurl could not make a handle.")
        }
        guard let multi = curl.functions.multi_init() else {
            curl.functions.easy_cleanup(easy)
            throw HTTPFailure(.outOfMemory, "libcurl could not make a handle.")
        }
        self.easy = CurlHandle(easy, of: curl)
        self.multi = OpaquePointer(multi)
        self.abortFlag = abortFlag
        self.options = options
    }

    deinit {
        easy.close()
        _ = curl.functions.multi_cleanup(UnsafeMutableRawPointer(multi))
    }

    /// Sends the request and waits for the whole answer, a deadline or the abort flag, whichever comes first.
    public func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        let target = try RequestTarget(request)
        blockBrokenPipeSignal()
        let transfer = Transfer(answerLimit: request.answerLimit)
        let result = request.body.withUnsafeBytes { body in
            Result { () throws(HTTPFailure) in
                try easy.prepare(
                    request, target: target, body: body, transfer: transfer, options: options)
                try run(target: target, transfer: transfer)
            }
        }
        easy.reset()
        try result.get()
        return transfer.response()
    }

    private func run(target: RequestTarget, transfer: Transfer) throws(HTTPFailure) {
        let multi = UnsafeMutableRawPointer(self.multi)
        guard curl.functions.multi_add_handle(multi, easy.pointer) == CURLM_OK else {
            throw HTTPFailure(.other, "libcurl did not take the request.")
        }
        defer { _ = curl.functions.multi_remove_handle(multi, easy.pointer) }
        var running: Int32 = 1
        while running > 0 {
            guard !abortFlag.isRaised else { throw HTTPFailure(.aborted, "\(target.host): stopped.") }
            guard curl.functions.multi_perform(multi, &running) == CURLM_OK else {
                throw HTTPFailure(.other, "\(target.host): libcurl failed.")
            }
            // Bounds how late an abort is seen; the request's own deadlines are libcurl's.
            if running > 0 { _ = curl.functions.multi_poll(multi, nil, 0, 100, nil) }
        }
        try easy.finish(target: target, transfer: transfer, result: finishedCode(multi))
    }

    private func finishedCode(_ multi: UnsafeMutableRawPointer) -> CURLcode {
        var left: Int32 = 0
        while let message = curl.functions.multi_info_read(multi, &left) {
            if message.pointee.msg == CURLMSG_DONE { return message.pointee.data.result }
        }
        return CURLE_RECV_ERROR
    }

    /// With CURLOPT_NOSIGNAL libcurl leaves SIGPIPE to us, and OpenSSL writes without MSG_NOSIGNAL. The signal goes to
    /// the writing thread, so that blocking it here is enough and touches no other thread.
    private func blockBrokenPipeSignal() {
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, SIGPIPE)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
    }
}
