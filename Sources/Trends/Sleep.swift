/// Stages that belong together, and the moment that decides on which day they count.
struct Sleep {
    var stages = StageTimes()
    /// Stage records that begin in it.
    var records = 0
    var end: Int64 = 0
    /// Of its last stage.
    var offsetMinutes = 0

    static func inOrder(_ records: [SleepRecord]) -> [Sleep] {
        var divider = SleepDivider()
        for record in records { divider.add(record) }
        return divider.finish()
    }
}

/// Divides stages, one after the other, into sleeps.
private struct SleepDivider {
    private var sleeps: [Sleep] = []
    private var current: Sleep?
    /// Where the last stage ended.
    private var coveredUntil = Int64.min
    /// Awake in a row at that point.
    private var awake: Int64 = 0

    mutating func add(_ record: SleepRecord) {
        if current != nil, record.start > coveredUntil {
            awake = 0
            if record.start - coveredUntil >= SleepRules.longestPause { close(at: coveredUntil) }
        }
        var sleep = current ?? Sleep()
        sleep.records += 1
        sleep.offsetMinutes = record.offsetMinutes
        current = sleep
        coveredUntil = record.end
        switch record.stage {
        case .outOfBed:
            take(record.stage, record.duration)
            close(at: record.start)
        case .awake:
            stayAwake(record)
        case .light, .deep, .rem:
            take(record.stage, record.duration)
            // What lasts no time interrupts nothing.
            if record.duration > 0 { awake = 0 }
        }
    }

    mutating func finish() -> [Sleep] {
        close(at: coveredUntil)
        return sleeps
    }

    private mutating func take(_ stage: SleepStage, _ duration: Int64) { current?.stages[stage] += duration }

    /// Each full pause ends a sleep; what remains begins the next.
    private mutating func stayAwake(_ record: SleepRecord) {
        var from = record.start
        while record.end - from >= SleepRules.longestPause - awake {
            let part = SleepRules.longestPause - awake
            take(.awake, part)
            from += part
            close(at: from)
            if from < record.end { current = Sleep(offsetMinutes: record.offsetMinutes) }
        }
        take(.awake, record.end - from)
        awake += record.end - from
    }

    private mutating func close(at end: Int64) {
        if var sleep = current {
            sleep.end = end
            sleeps.append(sleep)
        }
        current = nil
        awake = 0
    }
}
