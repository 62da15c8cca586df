/// One run of the upload: from the first request after a rest until nothing is left to send, or until it fails.
///
/// Requests that a band waits for are in no run: they are made between the steps of one.
public struct UploadRun: Equatable, Sendable {
    /// What a run came to. Counts, bytes and times only.
    public struct Report: Equatable, Sendable {
        /// Of the last batch that was sent; nil = it came to none.
        public var syncID: String?
        public var batches = 0
        /// Samples in these batches; a sample that is sent twice counts twice.
        public var samples = 0
        public var confirmed = 0
        public var rejected = 0
        /// Kept back until there is consent.
        public var held = 0
        public var traffic = Traffic()
        public var duration = Duration.zero

        public init() {}
    }

    public private(set) var report = Report()
    private var startedAt: Duration?
    /// The start was told.
    public private(set) var isTold = false

    public init() {}

    public var isOpen: Bool { startedAt != nil }

    /// What a step that began at `start` asked of the server.
    public mutating func stepped(_ traffic: Traffic, since start: Duration) {
        guard traffic.requests > 0 else { return }
        if startedAt == nil { startedAt = start }
        report.traffic += traffic
    }

    /// A batch is about to be sent. True = the start of the run is to be told now.
    public mutating func sending(_ syncID: String, samples: Int, at now: Duration) -> Bool {
        if startedAt == nil { startedAt = now }
        report.syncID = syncID
        report.batches += 1
        report.samples += samples
        defer { isTold = true }
        return !isTold
    }

    public mutating func settled(_ verdict: BatchVerdict) {
        report.confirmed += verdict.confirmed.count
        report.rejected += verdict.rejected.count
        report.held += verdict.held.count
    }

    /// One that the server refused by itself.
    public mutating func quarantined(_ count: Int) { report.rejected += count }

    /// What it came to, and a new one.
    public mutating func close(at now: Duration) -> Report {
        report.duration = now - (startedAt ?? now)
        defer { self = UploadRun() }
        return report
    }
}
