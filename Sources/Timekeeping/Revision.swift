/// Whether a sample is published anew. Each time costs a version, radio for nobody and an upload.
public enum Revision {
    /// A better time that moves a sample by less stays unpublished.
    public static let thresholdMilliseconds: Int64 = 500

    /// What to publish instead of `published`; nil = it stands.
    ///
    /// A time is replaced by one that is better: certain instead of uncertain, or moved by more than the threshold
    /// with a smaller bound. With an equal one both are as good, and two gateways that see it differently would say so in
    /// turn. Of a clock that turned out to be broken an uncertain time replaces a certain one.
    public static func decide(
        published: DerivedFields, fresh estimate: TimeEstimate, bandOffset: Int?, isClockBroken: Bool,
        derivation: Derivation, threshold: Int64 = thresholdMilliseconds
    ) -> DerivedFields? {
        let fresh = derivation.fields(estimate, bandOffset: bandOffset, published: published)
        if isTimeBetter(fresh, than: published, isClockBroken: isClockBroken, threshold: threshold) {
            return fresh
        }
        let kept = derivation.complete(published, bandOffset: bandOffset)
        // A time that is only a little better may still tell on which side of a border the sample lies.
        if kept.wearer == .undecided, fresh.wearer != .undecided, !isWorse(fresh, than: published) {
            return fresh
        }
        return kept == published ? nil : kept
    }

    private static func isTimeBetter(
        _ fresh: DerivedFields, than published: DerivedFields, isClockBroken: Bool, threshold: Int64
    ) -> Bool {
        let moved = abs(fresh.recordedAt - published.recordedAt) > threshold
        switch (published.isUncertain, fresh.isUncertain) {
        case (true, false): return true
        case (false, true): return isClockBroken
        case (false, false): return moved && fresh.bound ?? .max < published.bound ?? .max
        // Both are guesses: the one that says more.
        case (true, true): return fresh.bound ?? .max < published.bound ?? .max
        }
    }

    private static func isWorse(_ fresh: DerivedFields, than published: DerivedFields) -> Bool {
        if fresh.isUncertain != published.isUncertain { return fresh.isUncertain }
        return fresh.bound ?? .max > published.bound ?? .max
    }
}
