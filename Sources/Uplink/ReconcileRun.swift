import BandProfile
import GatewayModel
import IngestAPI
import Locking
import Store
import UploadDecisions

/// One comparison of a band with the server, on its way: what is known so far, and what comes next.
struct ReconcileRun {
    enum Phase {
        /// What the server counts; before the ranges, see `ExpiryJudge`.
        case readState
        case readRanges
        /// The first sample that the server shows; then what is older than it is counted.
        case readFirst(day: Int64, older: [Int64])
        case countOlder(days: [Int64])
        case compare
        case read(Reading)
    }

    /// A day that differs, and what of the server is still to be read to tell how.
    struct Reading {
        var day: DayReconciliation
        /// As it is stored here.
        var parts: [StoredPart]
        /// Days whose samples are read: first the day itself, then those to which something may have moved.
        var pending: [Int64]
        var cursor: String?
        var pages = 0
        /// What was seen on other days.
        var elsewhere: [DayReconciliation.Part: Set<UInt32>] = [:]
        var hasLookedElsewhere = false
    }

    let device: DeviceID
    let isDryRun: Bool
    /// Nobody asked for it: what the server lacks is not marked, and gaps heal all the same.
    let isForGaps: Bool
    /// The first day that is compared; nil = all.
    let firstDay: Int64?
    /// Nil = another one is under way.
    let answer: OneShot<ReconcileReport?>
    var phase = Phase.readState
    var report: ReconcileReport
    var counts: [String: Int] = [:]
    /// So many samples fewer than it confirmed the server had then; nil = it can't be told.
    var lacking: Int?
    var ranges: [DayRange] = []
    /// Named as missing here.
    var gaps: [RingID: [ClosedRange<UInt32>]] = [:]
    var expiry = ExpiryJudge(counts: [:], ranges: [])
    /// Still to be compared, in rising order.
    var days: [Int64] = []
    var backOff: BackOff
    var notBefore: Duration?

    /// Pages of one day; a band that records every second fills 87.
    static let pageLimit = 500
    /// Failures of one request in a row before it ends.
    static let failureLimit = 4

    init(
        device: DeviceID, firstDay: Int64?, isDryRun: Bool, isForGaps: Bool = false, limits: BackOff.Limits,
        answer: OneShot<ReconcileReport?>
    ) {
        self.device = device
        self.firstDay = firstDay
        self.isDryRun = isDryRun || isForGaps
        self.isForGaps = isForGaps
        self.answer = answer
        report = ReconcileReport(device: device, isMarked: !isDryRun && !isForGaps)
        backOff = BackOff(limits: limits)
    }

    /// There is nobody to do it.
    func answerStopped() {
        var report = report
        report.problem = Problem(UploadProblem.noAnswer(.aborted), since: nil)
        answer.set(report)
    }

    var healsGaps: Bool { isForGaps || !isDryRun }

    /// Those of the seqs that are named as missing.
    func missing(_ seqs: [UInt32], in ring: RingID) -> [UInt32] {
        guard let gaps = gaps[ring] else { return [] }
        return seqs.filter { seq in gaps.contains { $0.contains(seq) } }
    }

    /// The ranges are there: which days there are here and there. Days before `keptFrom` were let go here after the
    /// server had them: there is nothing to compare.
    mutating func begin(daysHere: [Int64], keptFrom: Int64? = nil) {
        let there = ranges.compactMap(\.dayNumber)
        let first = max(firstDay ?? .min, keptFrom ?? .min)
        days = Set(daysHere).union(there).filter { $0 >= first }.sorted()
        report.days = days.count
        expiry = ExpiryJudge(counts: counts, ranges: ranges)
        let older = daysHere.filter { $0 >= first && expiry.mayBeOlder(day: $0) }
        let isAsked = days.first.map { expiry.mayBeOlder(day: $0) } ?? false
        guard !expiry.isNothingExpired, isAsked else { return phase = .compare }
        phase = expiry.firstDay.map { .readFirst(day: $0, older: older) } ?? .countOlder(days: older)
    }

    func there(on day: Int64) -> [DayRange] { ranges.filter { $0.dayNumber == day } }

    // MARK: findings

    mutating func note(_ difference: DayDifference) {
        if report.differences.last?.day != difference.day { report.differingDays += 1 }
        report.missing += difference.missing
        report.onlyThere += difference.onlyThere
        if report.differences.count < ReconcileReport.differenceLimit {
            report.differences.append(difference)
        }
    }

    mutating func noteExpired(_ count: Int, on day: Int64) {
        guard count > 0 else { return }
        report.expired += count
        let days = report.expiredDays
        report.expiredDays = min(days?.lowerBound ?? day, day)...max(days?.upperBound ?? day, day)
    }
}

extension DayReconciliation {
    init(day: Int64, parts: [StoredPart], there: [DayRange]) {
        var here: [Part: Here] = [:]
        for part in parts { here[Part(part)] = Here(seqs: part.seqs, times: part.times) }
        self.init(day: day, here: here, there: there)
    }
}

extension DayReconciliation.Part {
    init(_ part: StoredPart) { self.init(ring: part.ring, type: part.type) }

    init(ring: RingID, type: SampleType) {
        self.init(ring: ring.description, type: APISampleType(type))
    }
}

extension APISampleType {
    init(_ type: SampleType) {
        switch type {
        case .heartRate: self = .heartRate
        case .steps: self = .steps
        case .spo2: self = .spo2
        case .sleepStage: self = .sleepStage
        }
    }
}
