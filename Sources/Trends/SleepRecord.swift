/// A stage record, and how long its stage lasted.
struct SleepRecord {
    var sample: PlacedSample
    var stage: SleepStage
    var end: Int64

    var start: Int64 { sample.at }
    var offsetMinutes: Int { sample.offsetMinutes }
    var duration: Int64 { end - start }

    /// A value that is no stage is no record.
    static func inOrder(_ samples: [PlacedSample], gaps: [TrendGap]) -> [SleepRecord] {
        let gaps = gaps.map(\.after).sorted()
        var records: [SleepRecord] = []
        for sample in samples {
            guard let stage = SleepStage(rawValue: sample.value) else { continue }
            if let last = records.indices.last {
                records[last].end = SleepRules.end(of: records[last].start, next: sample.at, gaps: gaps)
            }
            records.append(SleepRecord(sample: sample, stage: stage, end: sample.at))
        }
        if let last = records.indices.last {
            records[last].end = SleepRules.end(of: records[last].start, next: nil, gaps: gaps)
        }
        return records
    }
}
