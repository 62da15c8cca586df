/// One request, its body complete and within the limit.
public struct ServerRequest: Sendable, Equatable {
    public var method: String
    /// The segments between the slashes of the path, percent-decoded: `/v1/a%2Fb` is `v1` and `a/b`.
    public var path: [String]
    public var query: [HTTPField]
    public var headers: [HTTPField]
    public var body: [UInt8]
    /// Who holds the other end of the connection; nil when it is not known.
    public var client: ClientAddress?

    public init(
        method: String, path: [String], query: [HTTPField] = [], headers: [HTTPField] = [],
        body: [UInt8] = [], client: ClientAddress? = nil
    ) {
        self.client = client
        self.method = method
        self.path = path
        self.query = query
        self.headers = headers
        self.body = body
    }

    /// All values of a header, whose name is compared without regard to case.
    public func header(_ name: String) -> [String] {
        let name = name.lowercased()
        return headers.filter { $0.name.lowercased() == name }.map(\.value)
    }

    /// All values of a query parameter.
    public func parameter(_ name: String) -> [String] {
        query.filter { $0.name == name }.map(\.value)
    }
}

/// A name and a value: a header, or a parameter of a query.
public struct HTTPField: Sendable, Equatable {
    public var name: String
    public var value: String

    public init(_ name: String, _ value: String) {
        self.name = name
        self.value = value
    }
}
