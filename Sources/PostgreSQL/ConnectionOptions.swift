import CPostgreSQL
import Glibc

/// What a connection string says, with what every connection of ours has.
struct ConnectionOptions: Sendable {
    private let keywords: [String]
    private let values: [String]

    /// - Parameter conninfo: a URI or keywords and values (PostgreSQL 15, 34.1.1).
    init(_ conninfo: String, applicationName: String) throws(PostgreSQLError) {
        var complaint: UnsafeMutablePointer<CChar>?
        guard !conninfo.utf8.contains(0), let parsed = PQconninfoParse(conninfo, &complaint) else {
            // It quotes what it could not read, and that can be a password.
            let text = complaint.map { ServerMessage.withoutQuotes(String(cString: $0)) } ?? "a zero byte"
            PQfreemem(complaint)
            throw PostgreSQLError(
                kind: .misuse,
                message: "the connection string is no URI and no keywords of libpq: \(text)")
        }
        defer { PQconninfoFree(parsed) }
        var keywords: [String] = []
        var values: [String] = []
        var option = parsed
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val {
                keywords.append(String(cString: keyword))
                values.append(String(cString: value))
            }
            option += 1
        }
        // The last of two with the same name counts.
        self.keywords = keywords + ["fallback_application_name", "client_encoding"]
        self.values = values + [applicationName, "UTF8"]
    }

    /// Begins to connect; nil without memory.
    func start() -> OpaquePointer? {
        let keywords = keywords.map { strdup($0) }
        let values = values.map { strdup($0) }
        defer { for text in keywords + values { free(text) } }
        return PQconnectStartParams(
            keywords.map { UnsafePointer($0) } + [nil], values.map { UnsafePointer($0) } + [nil], 0)
    }
}
