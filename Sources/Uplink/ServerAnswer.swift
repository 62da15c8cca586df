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
    public struct Ring: Equatable, Sendable {
        public var ring: RingID
        /// Nil = no gateway has said so yet.
        public var completeThrough: UInt32?

        public init(ring: RingID, completeThrough: UInt32?) {
            self.ring = ring
            self.completeThrough = completeThrough
        }
    }

    public var rings: [Ring]
    /// Corrections start above it.
    public var maxVersion: Int

    public init(rings: [Ring], maxVersion: Int) {
        self.rings = rings
        self.maxVersion = maxVersion
    }

    /// A ring whose name is none is left out: it can't be one of a band's.
    init(_ state: DeviceState) {
        rings = state.rings.compactMap { ring in
            RingID(ring.ring).map { Ring(ring: $0, completeThrough: ring.completeThrough) }
        }
        maxVersion = Self.version(state.maxVersion)
    }

    /// A version above it has to exist, whatever the server says.
    public static func version(_ claimed: Int) -> Int {
        min(max(0, claimed), APISample.validVersions.upperBound / 2)
    }
}
