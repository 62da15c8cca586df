import BandProfile
import GatewayModel
import IngestAPI

/// What the server says when it is asked about a band.
public enum ServerAnswer: Equatable, Sendable {
    case knows(ServerDeviceState)
    /// The server answered: it has never had a sample of it.
    case unknownDevice
    /// No usable answer before the deadline; ask again later.
    case unreachable
    /// No server is configured.
    case noServer
}

/// What the server holds of one device. Ingest API 1, "What the server knows of a device".
public struct ServerDeviceState: Equatable, Sendable {
    public var rings: [KnownRing]
    /// Corrections start above it.
    public var maxVersion: Int

    public init(rings: [KnownRing], maxVersion: Int) {
        self.rings = rings
        self.maxVersion = maxVersion
    }

    init(_ state: DeviceState) {
        rings = state.rings.compactMap { KnownRing($0) }
        maxVersion = Self.version(state.maxVersion)
    }

    /// A version above it has to exist, whatever the server says.
    public static func version(_ claimed: Int) -> Int {
        min(max(0, claimed), APISample.validVersions.upperBound / 2)
    }
}

extension KnownRing {
    /// Nil for a name that is none: it can't be one of a band's.
    public init?(_ state: RingState) {
        guard let ring = RingID(state.ring) else { return nil }
        self.init(ring: ring, completeThrough: state.completeThrough)
    }
}
