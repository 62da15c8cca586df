/// A whole answer: one whose body was cut short is a failure instead.
public struct HTTPResponse: Equatable, Sendable {
    public var status: Int
    /// At most 64 header lines, as sent.
    public var headers: [HTTPHeader]
    public var body: [UInt8]

    public init(status: Int, headers: [HTTPHeader] = [], body: [UInt8] = []) {
        self.status = status
        self.headers = headers
        self.body = body
    }

    /// The first value of a header; names compare without regard to case.
    public func header(_ name: String) -> String? {
        let wanted = name.lowercased()
        return headers.first { $0.name.lowercased() == wanted }?.value
    }
}
