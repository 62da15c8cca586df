/// What the server last said of who owns a band. The owner acknowledges, others observe.
public struct BandLease: Equatable, Sendable {
    /// This gateway owns it.
    public var isOurs: Bool
    /// The gateway that holds it; empty = the server named none.
    public var holder: String
    /// By the server's clock; means nothing without a holder.
    public var until: Timestamp

    public init(isOurs: Bool, holder: String, until: Timestamp) {
        self.isOurs = isOurs
        self.holder = holder
        self.until = until
    }

    /// The server keeps no leases: there is nobody to ask, as without a server.
    public static let notKept = BandLease(isOurs: true, holder: "", until: Timestamp(milliseconds: 0))

    /// There is a server, and it has not answered yet who owns the band.
    public static let unanswered = BandLease(isOurs: false, holder: "", until: Timestamp(milliseconds: 0))

    /// The server said so, not only that it keeps no leases, which it may have learnt since.
    public var isSaidToBeOurs: Bool { isOurs && self != .notKept }

    /// Nil without a holder.
    public var end: Timestamp? { holder.isEmpty ? nil : until }

    /// True when the server has to be asked before anything may be acknowledged under what it said last: it said nothing
    /// yet, or what it said may be over, and another gateway's turn. Another's lease is asked for when its time is over,
    /// and by nobody before.
    public static func isToBeAsked(_ known: BandLease?, at now: Timestamp, trust: HostTrust) -> Bool {
        guard let known else { return true }
        guard known.isOurs, let end = known.end else { return false }
        return end <= now || trust == .implausible
    }
}

extension BandMode {
    /// How the band is treated now. A gateway that was told that another one owns the band observes until the server says
    /// that it may own it.
    ///
    /// - Parameter lease: nil = there is no server to ask. Where there is one that has not answered, `unanswered`.
    public func effective(_ lease: BandLease?) -> BandMode {
        self == .own && lease?.isOurs == false ? .observe : self
    }
}
