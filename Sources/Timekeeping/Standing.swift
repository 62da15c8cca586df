/// Which of two statements about one sample is current at the server: the higher version; at equal versions the smaller
/// bound, then the first. A time that can't be trusted is further off than any that can, one without a bound further
/// than any with one. Ingest API 1, "Sending samples" and "What bandferry-ingest decides".
public struct Standing: Comparable, Sendable {
    private let version: Int64
    private let vagueness: Int
    private let bound: Int64

    public init(version: Int64, fields: DerivedFields) {
        self.version = version
        vagueness = fields.isUncertain ? 2 : fields.bound == nil ? 1 : 0
        bound = fields.isUncertain ? 0 : fields.bound ?? 0
    }

    /// The lower one gives way.
    public static func < (left: Self, right: Self) -> Bool {
        (left.version, -left.vagueness, -left.bound) < (right.version, -right.vagueness, -right.bound)
    }
}
