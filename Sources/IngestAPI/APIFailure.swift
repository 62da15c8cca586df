/// The codes that an answer with an error may carry.
public enum APIErrorCode: String, Codable, CaseIterable, Sendable {
    case malformed
    case authenticationFailed = "authentication_failed"
    case forbidden
    case notFound = "not_found"
    case unknownDevice = "unknown_device"
    case methodNotAllowed = "method_not_allowed"
    case leaseHeld = "lease_held"
    case batchTooLarge = "batch_too_large"
    case unsupportedEncoding = "unsupported_encoding"
    case rateLimited = "rate_limited"
    case serverError = "server_error"

    public var status: Int {
        switch self {
        case .malformed: 400
        case .authenticationFailed: 401
        case .forbidden: 403
        case .notFound, .unknownDevice: 404
        case .methodNotAllowed: 405
        case .leaseHeld: 409
        case .batchTooLarge: 413
        case .unsupportedEncoding: 415
        case .rateLimited: 429
        case .serverError: 503
        }
    }
}

/// A request that can't be answered as asked: the code decides the status, the message is for people.
public struct APIFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var code: APIErrorCode
    public var message: String

    public init(_ code: APIErrorCode, _ message: String) {
        self.code = code
        self.message = message
    }

    public static func malformed(_ message: String) -> Self { APIFailure(.malformed, message) }
    public static func batchTooLarge(_ message: String) -> Self { APIFailure(.batchTooLarge, message) }

    public var description: String { "\(code.rawValue): \(message)" }
}

/// `{ "error": { "code", "message" } }`. The code is text here: a gateway meets codes that it does not know.
public struct ErrorBody: Codable, Equatable, Sendable {
    public struct Detail: Codable, Equatable, Sendable {
        public var code: String
        public var message: String
    }

    public var error: Detail

    public init(code: String, message: String) {
        error = Detail(code: code, message: message)
    }
}
