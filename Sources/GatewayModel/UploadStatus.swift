import BandProfile
import Conditions

/// What `bandferry upload status` shows. Times are wall clock; nil = never or not known.
public struct UploadStatus: Equatable, Sendable {
    public enum State: String, Sendable, CaseIterable {
        /// No server is configured.
        case off
        case sending
        /// Everything is up, or rests until the server, a person or the time does something.
        case waiting
        /// A person said so.
        case paused
        /// The daemon is not running.
        case stopped
    }

    public var state: State
    /// Nil = no server is configured.
    public var url: String?
    /// Samples that the server has not confirmed, those that are kept back included.
    public var pending = 0
    /// Of these, the ones in the request that runs.
    public var inFlight = 0
    public var pause: UploadPause?
    /// Nothing is tried before then.
    public var waitsUntil: Timestamp?
    /// Nothing failed, and history waits all the same: for cheaper hours or another connection.
    public var metered: MeteredRest?
    /// When the server last confirmed samples.
    public var lastSuccess: Timestamp?
    /// The last failure, also when it is over: ingest API 1's code.
    public var lastErrorCode: String?
    public var lastErrorAt: Timestamp?
    /// What is wrong now.
    public var problem: Problem?
    public var bands: [UploadBand] = []

    public init(state: State, url: String? = nil) {
        self.state = state
        self.url = url
    }
}

/// Why history waits though nothing failed.
public enum MeteredRest: Equatable, Sendable {
    /// For the end of `metered_hours`, at this minute of the host's day.
    case hours(until: Int)
    /// For a connection that is not paid by volume.
    case connection
}

/// A person stopped the upload for a time.
public struct UploadPause: Equatable, Sendable {
    public var since: Timestamp
    /// Nil = until somebody resumes it.
    public var until: Timestamp?

    public init(since: Timestamp, until: Timestamp? = nil) {
        self.since = since
        self.until = until
    }

    /// Its end has passed by the wall clock.
    public func isOver(at now: Timestamp) -> Bool { until.map { $0 <= now } ?? false }

    /// Something that `status` has to say, too: bands go on, and nothing of them goes up.
    public var problem: Problem {
        Problem(.uploadPaused, ["time": until == nil ? "" : " for a time"], since: since)
    }
}

/// What of one band is still to go up, and what does not go.
public struct UploadBand: Equatable, Sendable {
    public var device: DeviceID
    public var address: BluetoothAddress
    public var name: String?
    public var pending: Int
    public var kept: [KeptSamples]

    public init(
        device: DeviceID, address: BluetoothAddress, name: String? = nil, pending: Int, kept: [KeptSamples]
    ) {
        self.device = device
        self.address = address
        self.name = name
        self.pending = pending
        self.kept = kept
    }
}

/// Samples of one ring that are here and do not go up now, for one reason. Never their values.
public struct KeptSamples: Equatable, Sendable {
    public enum Reason: String, Sendable, CaseIterable {
        /// The server will not take them; `code` says why.
        case refused
        /// Second readings of a record that the server will not take.
        case refusedReading = "refused_reading"
        /// Whose they are has not consented; tried again by itself.
        case consent
        /// They wait for a host clock that can be believed, a day at most.
        case hostClock = "host_clock"
    }

    public var reason: Reason
    /// Ingest API 1's; empty where the server did not say one.
    public var code: String
    public var ring: RingID
    public var count: Int
    /// In rising order, at most `rangeLimit`.
    public var ranges: [ClosedRange<UInt32>]
    /// When the first and the last of them were recorded, as far as that is known.
    public var from: Timestamp?
    public var to: Timestamp?

    public static let rangeLimit = 10

    public init(
        reason: Reason, code: String = "", ring: RingID, count: Int = 0, ranges: [ClosedRange<UInt32>] = [],
        from: Timestamp? = nil, to: Timestamp? = nil
    ) {
        self.reason = reason
        self.code = code
        self.ring = ring
        self.count = count
        self.ranges = ranges
        self.from = from
        self.to = to
    }
}

/// What one `bandferry upload now` did.
public struct UploadReport: Equatable, Sendable {
    /// Samples that the server confirmed meanwhile.
    public var sent: Int
    /// What it has not confirmed yet.
    public var left: Int
    /// Why it went no further; nil = all that may go is up, or the time was over.
    public var problem: Problem?
    /// Nothing is tried before then.
    public var waitsUntil: Timestamp?
    /// The time was over first: the upload goes on by itself.
    public var isCut: Bool

    public init(
        sent: Int, left: Int, problem: Problem? = nil, waitsUntil: Timestamp? = nil, isCut: Bool = false
    ) {
        self.sent = sent
        self.left = left
        self.problem = problem
        self.waitsUntil = waitsUntil
        self.isCut = isCut
    }
}
