import GatewayModel

/// What the gateway itself says of a sample, and may say better later. What the band gave never changes.
public struct DerivedFields: Equatable, Sendable {
    /// ms since 1970-01-01T00:00:00Z.
    public var recordedAt: Int64
    /// ms; nil = not known.
    public var bound: Int64?
    public var isUncertain: Bool
    /// Quarter hours east of UTC; nil = not known.
    public var offsetQuarterHours: Int?
    public var offsetSource: OffsetSource?
    public var wearer: WearerVerdict

    public init(
        recordedAt: Int64, bound: Int64?, isUncertain: Bool, offsetQuarterHours: Int? = nil,
        offsetSource: OffsetSource? = nil, wearer: WearerVerdict = .unsaid
    ) {
        self.recordedAt = recordedAt
        self.bound = bound
        self.isUncertain = isUncertain
        self.offsetQuarterHours = offsetQuarterHours
        self.offsetSource = offsetSource
        self.wearer = wearer
    }

    /// The truth may be further away than a day's neighbours: half a day and more, or nobody knows.
    public var isVague: Bool { isUncertain || bound ?? .max > Self.vagueMilliseconds }
    public static let vagueMilliseconds: Int64 = 43_200_000

    public init(_ estimate: TimeEstimate) {
        self.init(recordedAt: estimate.time, bound: estimate.bound, isUncertain: estimate.isUncertain)
    }
}

/// Turns a time estimate into all that is derived of a sample.
public struct Derivation: Sendable {
    public let wearers: WearerHistory
    public let offsets: OffsetChoice
    /// What was said here of the wearer and then taken back, of this band.
    public let withdrawn: [Assignment]

    public init(wearers: WearerHistory, offsets: OffsetChoice, withdrawn: [Assignment] = []) {
        self.wearers = wearers
        self.offsets = offsets
        self.withdrawn = withdrawn
    }

    /// `bandOffset` in quarter hours; nil where the band does not know. `published`: what is said of the sample so far,
    /// some of which may be another gateway's word.
    public func fields(
        _ estimate: TimeEstimate, bandOffset: Int?, published: DerivedFields? = nil
    ) -> DerivedFields {
        complete(DerivedFields(estimate), bandOffset: bandOffset, published: published)
    }

    /// Says anew who wore it and where, at the time that was published.
    public func complete(_ published: DerivedFields, bandOffset: Int?) -> DerivedFields {
        complete(published, bandOffset: bandOffset, published: published)
    }

    private func complete(
        _ given: DerivedFields, bandOffset: Int?, published: DerivedFields?
    ) -> DerivedFields {
        var fields = given
        fields.wearer = wearers.wearer(at: given.recordedAt, bound: given.bound)
        if let published, let word = othersWord(published), !fields.wearer.isPerson { fields.wearer = word }
        let offset = offsets.offset(band: bandOffset, wearer: fields.wearer, at: fields.recordedAt)
        fields.offsetQuarterHours = offset?.quarterHours
        fields.offsetSource = offset?.source
        // Where this host is says less than what another gateway said.
        if let published, published.offsetSource == .elsewhere, offset?.source ?? .host == .host {
            fields.offsetQuarterHours = published.offsetQuarterHours
            fields.offsetSource = .elsewhere
        }
        return fields
    }

    /// The wearer where another gateway named them. That nobody was named here says nothing against it: otherwise two
    /// gateways of which one knows the wearer would clear and set it in turn.
    private func othersWord(_ published: DerivedFields) -> WearerVerdict? {
        guard case .person(let person) = published.wearer,
            wearers.wearer(at: published.recordedAt, bound: published.bound) != published.wearer
        else { return nil }
        let (low, high) = WearerHistory.span(of: published.recordedAt, bound: published.bound)
        let wasOurs = withdrawn.contains { old in
            old.person == person && old.from.milliseconds <= high && (old.to?.milliseconds ?? .max) > low
        }
        return wasOurs ? nil : published.wearer
    }
}

extension WearerVerdict {
    fileprivate var isPerson: Bool { if case .person = self { true } else { false } }
}
