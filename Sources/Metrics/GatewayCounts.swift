import GatewayModel

/// What a gateway has counted since it started. Bounded: by the number of bands and of declared conditions.
public struct GatewayCounts: Equatable, Sendable {
    public struct Band: Equatable, Sendable {
        public var samples: Int64 = 0
        public var chunks: Int64 = 0
        public var sessions: Int64 = 0
        /// Notifications that waited in the mailbox when the session last looked; 0 without a session.
        public var waiting: Int64 = 0

        public init() {}
    }

    public var bands: [DeviceID: Band] = [:]
    public var commit = Histogram()
    /// From the moment at which a session took the oldest records that were not acked to the ack's write. What they waited
    /// in the socket and in the mailbox before is not in it, nor the way of the ack to the band; and records that are acked
    /// by a later session, as with `ack = upload`, are not counted at all.
    public var ack = Histogram()
    /// Failures by the condition's code.
    public var failures: [String: Int64] = [:]
    public var notificationsDropped: Int64 = 0
    /// The most notifications that ever waited in one mailbox.
    public var mostWaiting: Int64 = 0
    /// Upload runs that failed, by what the gateway calls the cause.
    public var uploadFailures: [String: Int64] = [:]
    /// A server may have any number of codes of its own.
    private static let causeLimit = 64

    public init() {}

    public mutating func connected(_ device: DeviceID) { bands[device, default: Band()].sessions += 1 }

    public mutating func committed(_ device: DeviceID, samples: Int, microseconds: Int64) {
        bands[device, default: Band()].samples += Int64(clamping: samples)
        bands[device, default: Band()].chunks += 1
        commit.add(microseconds)
    }

    public mutating func failed(_ code: String) { failures[code, default: 0] += 1 }

    public mutating func uploadFailed(_ cause: String) {
        let isKnown = uploadFailures[cause] != nil || uploadFailures.count < Self.causeLimit
        uploadFailures[isKnown ? cause : "other", default: 0] += 1
    }

    public mutating func waiting(_ device: DeviceID, _ count: Int) {
        bands[device, default: Band()].waiting = Int64(clamping: count)
        mostWaiting = max(mostWaiting, Int64(clamping: count))
    }
}
