import Testing

@testable import PostgreSQL

@Suite struct ConnectionStringTests {
    @Test(arguments: [
        "postgres:/user:secret@host/db", "postgresql://user:secret@host:port:port/db?a", "password='secret",
        "secret",
        "postgresql://user:\"secret\"@[host/db", "host=a secret=1", "postgresql://u:p@h/db?secret=1",
        "postgresql://u:%zzsecret@h/db",
    ])
    func aWrongOneIsNotRepeated(_ conninfo: String) { refuse(conninfo) }

    @Test func aZeroByteEndsNothing() { refuse("password=secret\0") }

    private func refuse(_ conninfo: String) {
        do throws(PostgreSQLError) {
            _ = try ConnectionOptions(conninfo, applicationName: "a")
            Issue.record("\(conninfo) was taken")
        } catch {
            #expect(error.kind == .misuse)
            #expect(error.message.contains("connection string"))
            #expect(!error.message.contains("secret"), "\(error.message)")
        }
    }

    @Test(arguments: [
        "", "host=/run/postgresql dbname=ingest", "postgresql:///ingest?host=/run/postgresql",
        "postgres://user:secret@one,two:5433/db?target_session_attrs=read-write",
    ])
    func whatLibpqKnowsIsTaken(_ conninfo: String) throws {
        _ = try ConnectionOptions(conninfo, applicationName: "a")
    }
}
