import Glibc
import PostgreSQL
import PostgreSQLTestSupport

/// The kind of the error that a call throws; nil when it throws none.
func kind(_ body: () throws(PostgreSQLError) -> Void) -> PostgreSQLError.Kind? { error(body)?.kind }

/// The error that a call throws; nil when it throws none.
func error(_ body: () throws(PostgreSQLError) -> Void) -> PostgreSQLError? {
    do throws(PostgreSQLError) {
        try body()
        return nil
    } catch {
        return error
    }
}

extension PostgreSQLConnection {
    /// To the shared server. Its tables are temporary: nobody else sees them.
    static func toSharedServer() throws -> PostgreSQLConnection {
        try PostgreSQLConnection(TestPostgreSQL.shared().conninfo(), deadline: .seconds(60))
    }

    /// The rows of one call.
    func rows(_ sql: String, _ parameters: [PostgreSQLValue] = []) throws(PostgreSQLError)
        -> [[PostgreSQLValue]]
    {
        try run([PostgreSQLCall(sql, parameters)])[0].rows
    }

    /// The integer that a call gives.
    func number(_ sql: String, _ parameters: [PostgreSQLValue] = []) throws(PostgreSQLError) -> Int64? {
        guard case .int(let number)? = try rows(sql, parameters).first?.first else { return nil }
        return number
    }

    func backend() throws(PostgreSQLError) -> pid_t {
        pid_t(truncatingIfNeeded: try number("SELECT pg_backend_pid()") ?? 0)
    }

    /// Waits until a question has this answer; false when it does not come.
    func wait(until sql: String, _ parameters: [PostgreSQLValue] = [], is answer: Int64)
        throws(PostgreSQLError) -> Bool
    {
        let limit = ContinuousClock.now + .seconds(30)
        while ContinuousClock.now < limit {
            if try number(sql, parameters) == answer { return true }
            poll(nil, 0, 2)
        }
        return false
    }
}
