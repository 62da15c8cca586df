import HTTPServer
import IngestAPI
import Locking

/// Counts what the server did. No account, device or person is a label.
final class Metrics: Sendable {
    private struct Request: Hashable {
        var route: String
        var status: Int
    }

    private struct Counts {
        var requests: [Request: Int] = [:]
        var samples: [String: Int] = [:]
        var batches = 0
        var storeBuckets = [Int](repeating: 0, count: storeBounds.count + 1)
        var storeSeconds = 0.0
        var storageFailures = 0
        var storageUp = true
    }

    /// Seconds from a batch's arrival at the storage to its durable commit.
    private static let storeBounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5]

    private let counts = Guarded(Counts())
    private let connections = Guarded<@Sendable () -> HTTPCounts?>({ nil })

    /// Where the server's connections are counted.
    func observe(_ counts: @escaping @Sendable () -> HTTPCounts?) { connections.withLock { $0 = counts } }

    func count(route: String, status: Int) {
        counts.withLock { $0.requests[Request(route: route, status: status), default: 0] += 1 }
    }

    func count(_ answer: BatchAnswer, took duration: Duration) {
        let seconds = Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18
        counts.withLock {
            $0.batches += 1
            $0.samples["accepted", default: 0] += answer.accepted
            $0.samples["duplicate", default: 0] += answer.duplicates
            $0.samples["corrected", default: 0] += answer.corrected
            $0.samples["conflict", default: 0] += answer.conflicts.count
            $0.samples["rejected", default: 0] += answer.rejected.count
            $0.storeSeconds += seconds
            $0.storeBuckets[Self.storeBounds.firstIndex { seconds <= $0 } ?? Self.storeBounds.count] += 1
        }
    }

    var isStorageUp: Bool { counts.withLock { $0.storageUp } }

    func countStorageFailure() { counts.withLock { $0.storageFailures += 1 } }

    /// True when this changes what was known: the moment to write to the log.
    func storage(up: Bool) -> Bool {
        counts.withLock {
            let changes = $0.storageUp != up
            $0.storageUp = up
            return changes
        }
    }

    static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// OpenMetrics 1.0 text.
    var text: String {
        let counts = counts.withLock { $0 }
        var text = OpenMetricsText()
        text.family("bandferry_ingest_requests", .counter, "Requests answered.")
        for (request, count) in counts.requests.sorted(by: {
            ($0.key.route, $0.key.status) < ($1.key.route, $1.key.status)
        }) {
            text.sample("_total", [("route", request.route), ("status", "\(request.status)")], "\(count)")
        }
        text.family("bandferry_ingest_batches", .counter, "Batches stored.")
        text.sample("_total", [], "\(counts.batches)")
        text.family(
            "bandferry_ingest_samples", .counter, "Samples of stored batches, by what became of them.")
        for (outcome, count) in counts.samples.sorted(by: { $0.key < $1.key }) {
            text.sample("_total", [("outcome", outcome)], "\(count)")
        }
        text.family(
            "bandferry_ingest_store_seconds", .histogram, "Time until a batch was durable.", unit: "seconds")
        var below = 0
        for (bound, count) in zip(Self.storeBounds, counts.storeBuckets) {
            below += count
            text.sample("_bucket", [("le", "\(bound)")], "\(below)")
        }
        text.sample("_bucket", [("le", "+Inf")], "\(counts.batches)")
        text.sample("_sum", [], "\(counts.storeSeconds)")
        text.sample("_count", [], "\(counts.batches)")
        text.family(
            "bandferry_ingest_storage_failures", .counter, "Requests that the storage could not serve.")
        text.sample("_total", [], "\(counts.storageFailures)")
        text.family("bandferry_ingest_storage_up", .gauge, "1 while the storage serves requests.")
        text.sample("", [], counts.storageUp ? "1" : "0")
        if let connections = connections.withLock({ $0 })() { add(connections, to: &text) }
        return text.end()
    }

    private func add(_ connections: HTTPCounts, to text: inout OpenMetricsText) {
        text.family("bandferry_ingest_connections", .gauge, "Open connections.")
        text.sample("", [], "\(connections.connections)")
        text.family("bandferry_ingest_connections_accepted", .counter, "Connections taken.")
        text.sample("_total", [], "\(connections.accepted)")
        text.family(
            "bandferry_ingest_connections_closed", .counter, "Connections that the server gave up, by reason."
        )
        for (reason, count) in [
            ("address_limit", connections.overAddressLimit), ("crowded", connections.crowdedOut),
            ("slow", connections.overdue),
        ] {
            text.sample("_total", [("reason", reason)], "\(count)")
        }
    }
}
