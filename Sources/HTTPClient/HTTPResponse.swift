/// A whole answer: one whose body was cut short is a failure instead.
public struct HTTPResponse: Equatable, Sendable {
    public var status: Int
    /// Lines as sent: at most 64, and those of `neededHeaders` however many others come before them.
    public var headers: [HTTPHeader]
    public var body: [UInt8]

    /// What the upload decides by, in lower case.
    static let neededHeaders: Set<String> = ["age", "date", "retry-after"]

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
