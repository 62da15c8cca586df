import SQLite
import Threading

#if canImport(Glibc)
    import Glibc
#endif

/// Checks the whole database while it is in use, on a thread and a connection of its own. One table after the other, so
/// that the log is not kept from being moved for all of that time.
final class BackgroundCheck: Sendable {
    private let stop = CheckStop()

    /// For one table. A card that gives 10 MB a second has read 18 GB by then.
    private static let limit: Duration = .seconds(1_800)

    enum Verdict: Sendable, Equatable {
        case sound
        case damaged(String)
        /// It was stopped, was not over in time, or could not be made: nothing is known.
        case unknown
    }

    /// `done` is called on that thread, at most once.
    init(_ opening: DatabaseOpening, done: @escaping @Sendable (Verdict) -> Void) {
        let stop = stop
        let thread = POSIXThread.start {
            let verdict = Self.run(opening, stop)
            if !stop.wasRequested { done(verdict) }
        }
        if let thread { pthread_detach(thread) }
    }

    deinit { stop.request() }

    func cancel() { stop.request() }

    private static func run(_ opening: DatabaseOpening, _ stop: CheckStop) -> Verdict {
        do {
            let database = try opening.openChecker()
            if let whileReading = opening.whileChecking {
                try database.query("SELECT 1 FROM sqlite_schema LIMIT 1") { _ in whileReading(stop) }
            }
            let tables = try database.all(
                "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite_%' ORDER BY name"
            ) { $0.text(0) }
            for table in tables {
                guard !stop.wasRequested else { return .unknown }
                switch try database.check(full: true, table: table, within: limit, stop: stop) {
                case .sound: continue
                case .timeUp: return .unknown
                case .damaged(let findings):
                    // A page that could not be read is told among the findings, but it is the medium that failed.
                    guard !DatabaseOpening.isUnread(findings) else { return .unknown }
                    return .damaged("\(table): \(findings.first ?? "the check failed")")
                }
            }
            return .sound
        } catch let error as SQLiteError {
            return error.code.primary == .corrupt ? .damaged(error.message) : .unknown
        } catch {
            return .unknown
        }
    }
}
