import CivilTime
import IngestAPI
import Trends

/// Somebody who watches the sleeper minute by minute and writes each minute down.
struct NaiveSleep {
    struct Sleep: Equatable {
        var records = 0
        /// By stage.
        var minutes = [0, 0, 0, 0, 0]
    }

    /// By the date on which they end: several sleeps of a day are one.
    private(set) var days: [String: Sleep] = [:]
    private(set) var hours: [String: Sleep] = [:]

    private var sleeps: [Sleep] = []
    private var current: Int?
    private var offset = 0
    private var awake = 0
    private var alone = 0
    private var lastSeen: Int64 = 0
    private var endDates: [Int: String] = [:]

    /// `samples` in order.
    init(_ samples: [TrendSample], gaps: [TrendGap], model: NaiveModel) {
        let minute = RandomLife.minute
        guard let first = samples.first?.recordedAt, let last = samples.last?.recordedAt else { return }
        let byTime = Dictionary(grouping: samples, by: \.recordedAt)
        var latest = samples[0]
        var latestSleep = 0
        for at in stride(from: first, through: last + 400 * minute, by: Int(minute)) {
            for sample in byTime[at] ?? [] {
                latest = sample
                latestSleep = openSleep()
                sleeps[latestSleep].records += 1
                offset = model.offset(sample)
                hours[NaiveModel.hourKey(at, offset), default: Sleep()].records += 1
                if sample.value == SleepStage.outOfBed.rawValue { close(at) }
            }
            let isOver = at >= latest.recordedAt + 240 * minute
            let isLost = gaps.contains { $0.after >= latest.recordedAt && $0.after <= at }
            guard !isOver, !isLost else {
                awake = 0
                alone += 1
                if alone == 60 { close(lastSeen) }
                continue
            }
            alone = 0
            hours[NaiveModel.hourKey(at, offset), default: Sleep()].minutes[latest.value] += 1
            lastSeen = at + minute
            if latest.value == SleepStage.outOfBed.rawValue {
                // It ended its sleep, and belongs to it all the same.
                sleeps[latestSleep].minutes[latest.value] += 1
                continue
            }
            sleeps[openSleep()].minutes[latest.value] += 1
            awake = latest.value == SleepStage.awake.rawValue ? awake + 1 : 0
            if awake == 60 { close(at + minute) }
        }
        for (index, date) in endDates {
            days[date, default: Sleep()].records += sleeps[index].records
            for stage in 0..<5 { days[date, default: Sleep()].minutes[stage] += sleeps[index].minutes[stage] }
        }
    }

    private mutating func openSleep() -> Int {
        if let current { return current }
        sleeps.append(Sleep())
        current = sleeps.count - 1
        return sleeps.count - 1
    }

    private mutating func close(_ end: Int64) {
        if let current { endDates[current] = NaiveModel.clock(end, offset).date }
        current = nil
        awake = 0
    }
}
