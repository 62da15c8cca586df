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
    private static let vagueMilliseconds: Int64 = 43_200_000

    public init(_ estimate: TimeEstimate) {
        self.init(recordedAt: estimate.time, bound: estimate.bound, isUncertain: estimate.isUncertain)
    }
}

/// Turns a time estimate into all that is derived of a sample.
public struct Derivation: Sendable {
    public let wearers: WearerHistory
    public let offsets: OffsetChoice

    public init(wearers: WearerHistory, offsets: OffsetChoice) {
        self.wearers = wearers
        self.offsets = offsets
    }

    /// `bandOffset` in quarter hours; nil where the band does not know.
    public func fields(_ estimate: TimeEstimate, bandOffset: Int?) -> DerivedFields {
        var fields = DerivedFields(estimate)
        complete(&fields, bandOffset: bandOffset)
        return fields
    }

    /// Says who wore it and where, at the time that the fields already have.
    public func complete(_ fields: inout DerivedFields, bandOffset: Int?) {
        fields.wearer = wearers.wearer(at: fields.recordedAt, bound: fields.bound)
        let offset = offsets.offset(band: bandOffset, wearer: fields.wearer, at: fields.recordedAt)
        fields.offsetQuarterHours = offset?.quarterHours
        fields.offsetSource = offset?.source
    }
}
