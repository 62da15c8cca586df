/// What the server last said of who owns a band. The owner acknowledges, others observe.
public struct BandLease: Equatable, Sendable {
    /// This gateway owns it.
    public var isOurs: Bool
    /// The gateway that holds it.
    public var holder: String
    /// By the server's clock.
    public var until: Timestamp

    public init(isOurs: Bool, holder: String, until: Timestamp) {
        self.isOurs = isOurs
        self.holder = holder
        self.until = until
    }
}

extension BandMode {
    /// How the band is treated now. Ingest API 1: the owner acks, others observe; while the server can't be reached the last
    /// confirmed owner goes on acking, whatever its lease says of when it ends, and a gateway that never owned the band
    /// observes. One without a server has nobody to ask, and owns what it is to own.
    public func effective(_ lease: BandLease?, hasServer: Bool) -> BandMode {
        guard self == .own, hasServer else { return self }
        return lease?.isOurs == true ? .own : .observe
    }
}
