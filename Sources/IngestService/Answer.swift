import HTTPServer
import IngestAPI
import IngestStore

/// Shapes answers: JSON bodies, errors and the headers that every answer has.
enum Answer {
    static let common = [
        HTTPField("Cache-Control", "no-store"), HTTPField("X-Content-Type-Options", "nosniff"),
    ]

    static func json(_ value: some Encodable, status: Int = 200) -> ServerResponse {
        guard let body = try? APIJSON.encode(value) else {
            return failure(APIFailure(.serverError, "the answer could not be written"))
        }
        return json(body, status: status)
    }

    /// Of what is JSON already.
    static func json(_ body: [UInt8], status: Int = 200) -> ServerResponse {
        ServerResponse(
            status: status, headers: [HTTPField("Content-Type", IngestAPI.jsonContentType)] + common,
            body: body)
    }

    static func text(_ text: String, contentType: String = "text/plain; charset=utf-8") -> ServerResponse {
        ServerResponse(
            status: 200, headers: [HTTPField("Content-Type", contentType)] + common, body: Array(text.utf8))
    }

    static func failure(_ failure: APIFailure, retryAfterSeconds: Int? = nil) -> ServerResponse {
        var response = json(
            ErrorBody(code: failure.code.rawValue, message: failure.message), status: failure.code.status)
        if let retryAfterSeconds { response.headers.append(HTTPField("Retry-After", "\(retryAfterSeconds)")) }
        if failure.code == .authenticationFailed {
            response.headers.append(HTTPField("WWW-Authenticate", "Bearer"))
        }
        return response
    }

    /// The details are for the log: they name paths of this machine.
    static func failure(_ failure: StorageFailure) -> ServerResponse {
        switch failure.kind {
        case .overloaded:
            return self.failure(APIFailure(.serverError, "too many requests wait"), retryAfterSeconds: 1)
        case .unavailable:
            return self.failure(APIFailure(.serverError, "nothing can be stored now"), retryAfterSeconds: 10)
        // Without a time: whoever sends it waits by rules of its own, and longer each time, as it won't soon be otherwise.
        case .full: return self.failure(APIFailure(.serverError, failure.message))
        case .damaged, .incompatible:
            return self.failure(APIFailure(.serverError, "the storage needs repair"), retryAfterSeconds: 60)
        case .defect:
            var response = self.failure(APIFailure(.serverError, "the server failed on this request"))
            response.status = 500
            return response
        }
    }

    /// An answer that there is no room for now.
    static let overload = failure(
        APIFailure(.serverError, "the account's other answers come first"), retryAfterSeconds: 2)

    /// A request that is no request of this API, or that there is no room for.
    static func refusal(_ refusal: HTTPRefusal) -> ServerResponse {
        var response: ServerResponse =
            switch refusal {
            case .bodyTooLarge: failure(.batchTooLarge("the body is over 1 MiB"))
            case .malformedTarget: failure(.malformed("the path or the query is not valid"))
            case .malformedHead(let reason): failure(.malformed(reason))
            case .targetTooLong(let limit): failure(.malformed("path and query are over \(limit) bytes"))
            case .tooManyParameters(let limit): failure(.malformed("there are over \(limit) parameters"))
            case .headersTooLarge: failure(.malformed("the headers are too many or too long"))
            case .overloaded:
                failure(APIFailure(.serverError, "too many requests are in hand"), retryAfterSeconds: 1)
            case .stopping: failure(APIFailure(.serverError, "the server is stopping"), retryAfterSeconds: 1)
            }
        response.status = refusal.status
        return response
    }

    static func leaseHeld(_ answer: LeaseAnswer) -> ServerResponse {
        let error = ErrorBody(code: APIErrorCode.leaseHeld.rawValue, message: "another gateway owns the band")
            .error
        return json(
            LeaseHeldBody(
                error: error, holder: answer.holder ?? "", expiresAt: answer.expiresAt ?? .earliest),
            status: APIErrorCode.leaseHeld.status)
    }
}
