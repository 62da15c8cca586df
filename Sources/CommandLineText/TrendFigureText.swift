import IngestAPI

/// The figures of a bucket, by its type.
struct TrendFigureText {
    let type: APISampleType

    init(_ type: APISampleType) { self.type = type }

    var name: String {
        switch type {
        case .heartRate: "heart rate, beats per minute"
        case .steps: "steps"
        case .spo2: "oxygen saturation, percent"
        case .sleepStage: "sleep, hours and minutes"
        }
    }

    var columns: [TextTable.Column] {
        let titles =
            switch type {
            case .heartRate: ["RESTING", "LOWEST", "MEAN", "HIGHEST", "SAMPLES"]
            case .spo2: ["LOWEST", "MEAN", "HIGHEST", "SAMPLES"]
            case .steps: ["STEPS", "SAMPLES"]
            case .sleepStage: ["ASLEEP", "LIGHT", "DEEP", "REM", "AWAKE", "OUT OF BED"]
            }
        return titles.map { .init($0, right: true) }
    }

    /// Stages go on without a record of their own.
    func hasData(_ bucket: AggregateBucket) -> Bool {
        guard bucket.count == 0, let minutes = bucket.minutes else { return bucket.count > 0 }
        return [minutes.awake, minutes.light, minutes.deep, minutes.rem, minutes.outOfBed].contains {
            $0.tenths > 0
        }
    }

    /// Steps and sleep do; the others have a level.
    var addsUp: Bool { type == .steps || type == .sleepStage }

    /// How high the bucket's block is, in some unit; nil without data.
    func height(_ bucket: AggregateBucket) -> Int? {
        guard hasData(bucket) else { return nil }
        switch type {
        case .heartRate, .spo2: return bucket.mean?.tenths
        case .steps: return bucket.sum
        case .sleepStage: return bucket.minutes.map { asleep($0).tenths }
        }
    }

    /// One for each column; a gap in place of the first when there is nothing.
    func cells(_ bucket: AggregateBucket) -> [String] {
        guard hasData(bucket) else { return [String(Sparkline.gap)] }
        let count = grouped(bucket.count)
        switch type {
        case .heartRate:
            return [
                decimal(bucket.resting), text(bucket.min), decimal(bucket.mean), text(bucket.max), count,
            ]
        case .spo2: return [percent(bucket.min), percent(bucket.mean), percent(bucket.max), count]
        case .steps: return [grouped(bucket.sum ?? 0), count]
        case .sleepStage:
            guard let minutes = bucket.minutes else { return [] }
            return [
                asleep(minutes), minutes.light, minutes.deep, minutes.rem, minutes.awake, minutes.outOfBed,
            ]
            .map(Self.hours)
        }
    }

    /// `7:05` of minutes, rounded to whole ones.
    static func hours(_ minutes: Tenths) -> String {
        let whole = (minutes.tenths + 5) / 10
        return "\(whole / 60):\(whole % 60 < 10 ? "0" : "")\(whole % 60)"
    }

    private func asleep(_ minutes: SleepMinutes) -> Tenths {
        Tenths(tenths: minutes.light.tenths + minutes.deep.tenths + minutes.rem.tenths)
    }

    private func text(_ value: (some CustomStringConvertible)?) -> String { value?.description ?? "" }

    /// With its decimal, also where that is 0: the points of a column stand below each other.
    private func decimal(_ value: Tenths?) -> String {
        value.map { $0.tenths % 10 == 0 ? "\($0).0" : "\($0)" } ?? ""
    }

    /// From tenths of a percent.
    private func percent(_ value: Int?) -> String { decimal(value.map { Tenths(tenths: $0) }) }

    /// The mean has a decimal more; it is rounded like the others.
    private func percent(_ value: Tenths?) -> String {
        decimal(value.map { Tenths(Int64($0.tenths), over: 100) })
    }
}
