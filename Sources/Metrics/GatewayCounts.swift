import GatewayModel

/// What a gateway has counted since it started. Bounded: by the number of bands and of declared conditions.
public struct GatewayCounts: Equatable, Sendable {
    public struct Band: Equatable, Sendable {
        public var samples: Int64 = 0
        public var chunks: Int64 = 0
        public var sessions: Int64 = 0

        public init() {}
    }

    public var bands: [DeviceID: Band] = [:]
    public var commit = Histogram()
    /// From the arrival of a chunk's last record to its ack.
    public var ack = Histogram()
    /// Failures by the condition's code.
    public var failures: [String: Int64] = [:]
    public var notificationsDropped: Int64 = 0

    public init() {}

    public mutating func connected(_ device: DeviceID) { bands[device, default: Band()].sessions += 1 }

    public mutating func committed(_ device: DeviceID, samples: Int, microseconds: Int64) {
        bands[device, default: Band()].samples += Int64(clamping: samples)
        bands[device, default: Band()].chunks += 1
        commit.add(microseconds)
    }

    public mutating func failed(_ code: String) { failures[code, default: 0] += 1 }
}
