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
    /// How the band is treated now. A gateway that was told that another one owns the band observes until the server says
    /// that it may own it; one that was never told anything goes on, as a gateway without a server does.
    public func effective(_ lease: BandLease?) -> BandMode {
        self == .own && lease?.isOurs == false ? .observe : self
    }
}
