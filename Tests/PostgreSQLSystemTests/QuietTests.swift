import Glibc
import PostgreSQL
import PostgreSQLTestSupport
import Testing

#if compiler(>=6.2)
    /// In a process of its own: what it prints, and whether a signal ends it.
    @Suite struct QuietTests {
        @Test func noticesAndBrokenPipesMakeNoNoise() async throws {
            let result = try await #require(processExitsWith: .success, observing: [\.standardErrorContent]) {
                signal(SIGPIPE, SIG_DFL)
                let server = try TestPostgreSQL()
                let connection = try PostgreSQLConnection(server.conninfo(), deadline: .seconds(60))
                let raise = "DO $$ BEGIN RAISE WARNING 'heard'; RAISE NOTICE 'heard'; END $$"
                try connection.script(raise)
                _ = try connection.run([PostgreSQLCall(raise), PostgreSQLCall("ROLLBACK")])
                server.kill()
                let large = PostgreSQLCall(
                    "SELECT $1::BYTEA", [.bytes([UInt8](repeating: 0, count: 1 << 20))])
                for _ in 0..<2 {
                    #expect(
                        kind { () throws(PostgreSQLError) in _ = try connection.run([large]) } == .connection)
                }
            }
            #expect(!String(decoding: result.standardErrorContent, as: UTF8.self).contains("heard"))
            #expect(!String(decoding: result.standardErrorContent, as: UTF8.self).contains("WARNING"))
        }
    }
#endif
