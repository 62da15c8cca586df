import BandProfile

/// `bandferry trends ...`.
public struct TrendsRequest: Equatable, Sendable {
    /// Whose: by a person's name or id, or by a band's device id or address. Every band when neither is named.
    public enum Subject: Equatable, Sendable {
        case everyBand
        case band(String)
        case person(String)
    }

    public var subject: Subject
    /// The last one is today.
    public var days: Int
    /// In the order of `SampleType`.
    public var types: [SampleType]
    public var byHour: Bool
    /// An IANA name; nil = this host's.
    public var zone: String?

    public init(
        subject: Subject = .everyBand, days: Int = 14, types: [SampleType] = SampleType.allCases,
        byHour: Bool = false, zone: String? = nil
    ) {
        self.subject = subject
        self.days = days
        self.types = types
        self.byHour = byHour
        self.zone = zone
    }
}
