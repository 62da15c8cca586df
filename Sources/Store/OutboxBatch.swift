import BandProfile
import GatewayModel

/// One sample that the server has not confirmed.
public struct OutboxItem: Equatable, Sendable {
    enum Origin: Equatable, Sendable {
        /// The row of `samples` under its key.
        case sample
        /// A row of `conflicts`: a second reading of a key that differs.
        case conflict(id: Int64)
    }

    public let sample: Sample
    let key: SampleKey
    let origin: Origin

    public var isConflict: Bool { origin != .sample }
}

/// Samples of one ring of one device, in rising seq, each with the version that it has now.
public struct OutboxBatch: Equatable, Sendable {
    public let device: DeviceID
    public let ring: RingID
    /// A key can come twice: the sample, and after all samples its conflicts.
    public let items: [OutboxItem]
    /// What `complete_through` becomes when the whole batch is confirmed; nil = nothing is complete yet.
    public let completeThrough: UInt32?

    let ringRow: Int64
}
