import GatewayModel
import IngestAPI
import Store
import UploadDecisions

/// The upload thread's own state: reads the outbox, makes one request at a time, records what came of it.
///
/// What to do and when is decided by `UploadSchedule` and `StatusTable`; here it is done. Between two requests the
/// mailbox is read, so a question or a stop waits for one request at most.
final class UploadWorker {
    /// What is known of a device since the start.
    struct DeviceNotes {
        /// The server's state was read, or it said that it knows none.
        var isStateRead = false
        /// When it was last asked for.
        var stateAskedAt: Duration?
        var lastReport: DeviceReport?
        /// The server said that it took it, and did not show it.
        var isReportDoubted = false
        /// When a report last went up; the start counts, so that a history goes first.
        var reportedAt: Duration
        var gapLists = GapLists()
        var causes = KnownCauses()
        /// The gaps that went up were looked for at the server since the last request that may have come there late, after a
        /// newer one.
        var isLedgerChecked = false
        /// So many samples fewer than it confirmed the server has: nothing is said to be complete there.
        var lacking = 0
        /// Kept for a retry with the same content.
        var attempt: Attempt?
        /// When what lies here was last compared with what the server has.
        var sweptAt: Duration?
    }

    struct Attempt {
        let fingerprint: BatchFingerprint
        let syncID: String
        /// The server may have stored it already.
        var wasPosted = false
    }

    let settings: UploadSettings
    let clock: any UploadClock
    let board: UploadBoard
    let hooks: UploadHooks
    let server: UploadServer
    var schedule: UploadSchedule
    var reports: ReportSchedule
    var random: InjectedRandom
    var notes: [DeviceID: DeviceNotes] = [:]
    /// Had their turn in this round.
    var served: Set<DeviceID> = []
    var run = UploadRun()
    var runNotes = RunNotes()
    var host: HostNotes
    var personNotes = PersonNotes()
    /// Of their own, because an answer to one says nothing of the other.
    var personReads: SideSchedule
    var personWrites: SideSchedule
    /// What people asked for.
    var commands: CommandState
    var comparison: Comparison?
    var comparisonSchedule: SideSchedule
    /// What the server has of one device on which day.
    var ranges: (device: DeviceID, readAt: Duration, list: [DayRange])?

    private let openOutbox: () throws -> any UploadOutbox
    private var outbox: (any UploadOutbox)?
    let tokenFile: TokenFile
    var token: (text: String, stamp: TokenFile.Stamp)?
    var refusedStamp: TokenFile.Stamp?
    var devices: [DeviceID] = []
    private var isNewLook = true
    var nextLook: Duration
    var nextRelease: Duration

    init(
        settings: UploadSettings, server: UploadServer, clock: any UploadClock, random: InjectedRandom,
        board: UploadBoard, openOutbox: @escaping () throws -> any UploadOutbox,
        hooks: UploadHooks
    ) {
        self.settings = settings
        self.server = server
        self.clock = clock
        self.random = random
        self.board = board
        self.openOutbox = openOutbox
        self.hooks = hooks
        let limits = settings.intervals.limits
        reports = ReportSchedule(limits: limits)
        personReads = SideSchedule(limits: limits.backOff, forbiddenRest: limits.credentials)
        personWrites = personReads
        comparisonSchedule = personReads
        commands = CommandState(leases: LeaseNotes(schedule: personReads))
        schedule = UploadSchedule(limits: limits)
        host = HostNotes(
            prompts: PromptGate(interval: settings.intervals.merge),
            budget: SendBudget(bytesPerSecond: settings.limits.bytesPerSecond))
        tokenFile = TokenFile(path: settings.tokenFile)
        nextLook = clock.monotonic
        nextRelease = clock.monotonic
    }

    var wallTime: APITime { APITime(clock.wall) }

    /// The thread ends after this.
    func stopped() {
        endRun(.stopped)
        stopCommands()
    }

    /// Does at most one request; returns how long to wait before the next step, zero = go on.
    func step(wasWoken: Bool) -> Duration {
        let now = clock.monotonic
        if wasWoken { nextLook = min(nextLook, now + settings.intervals.merge) }
        if takePrompt(now: now) { nextLook = min(nextLook, now) }
        let prompt = host.prompts.wait(now: now) ?? settings.intervals.idle
        let command = stepReconcile(now: now) ?? settings.intervals.idle
        guard now >= nextLook else { return min(nextLook - now, prompt, command) }
        host.isPaced = false
        let wait = look(now: now)
        let goesOn = wait == .zero || host.isPaced
        stepEnded(since: now, goesOn: goesOn)
        board.show(schedule.problem.map(explained), isSending: goesOn, now: clock.wall)
        return min(wait, prompt, command, lookEnded(goesOn: goesOn))
    }

    private func look(now: Duration) -> Duration {
        refreshToken(now: now)
        if schedule.wait(now: now) != nil { lookAround(now: now) }
        if let until = schedule.wait(now: now) {
            // What piles up in an outage is shown as it grows.
            if let count = try? outbox?.pendingCount() { board.pending = count }
            // Never longer than a look: the wait does not count the time that the machine sleeps, the clock does.
            let limit = schedule.waitsForFile ? settings.intervals.tokenCheck : settings.intervals.idle
            return min(until - now, limit)
        }
        guard let token else { return settings.intervals.tokenCheck }
        if let rest = restPaced(now: now) { return rest }
        do {
            let outbox = try openedOutbox()
            if isNewLook { try beginLook(outbox, now: now) }
            if let rest = try restPaused(outbox, now: now) { return rest }
            if try work(outbox, token: token.text, now: now) { return .zero }
            try endLook(outbox, now: now)
        } catch {
            // It may have been set aside or restored meanwhile: open it anew.
            outbox = nil
            comparison = nil
            personNotes.toPut = nil
            isNewLook = true
            if let error = error as? StoreError, error.kind == .corrupt { hooks.storeDamaged(error) }
            schedule.couldNotSend(.outbox("\(error)"), now: now, using: &random)
        }
        return max(.milliseconds(1), min(nextLook, schedule.wait(now: now) ?? nextLook) - now)
    }

    private func beginLook(_ outbox: any UploadOutbox, now: Duration) throws {
        try listDevices(outbox, now: now)
        if now >= nextRelease {
            try outbox.releaseHeld()
            nextRelease = now + settings.intervals.held
        }
        board.pending = try outbox.pendingCount()
        isNewLook = false
    }

    func listDevices(_ outbox: any UploadOutbox, now: Duration) throws {
        devices = try outbox.devices()
        for device in devices where notes[device] == nil { notes[device] = DeviceNotes(reportedAt: now) }
    }

    /// Nothing more can be sent now.
    func endLook(_ outbox: any UploadOutbox, now: Duration) throws {
        schedule.outboxWorks()
        board.pending = try outbox.pendingCount()
        isNewLook = true
        let waits = [schedule.resting(now: now).until, reports.next(after: now)].compactMap { $0 }
        nextLook = max(
            now + .milliseconds(1), min(now + settings.intervals.idle, waits.min() ?? .seconds(Int64.max)))
    }

    /// The first thing that can be done now, in order of use to others. False = nothing.
    private func work(_ outbox: any UploadOutbox, token: String, now: Duration) throws -> Bool {
        let resting = schedule.resting(now: now).devices
        let awake = devices.filter { !resting.contains($0.text) }
        // Ingest API 1: max_version and complete_through are read before anything is sent.
        if let device = awake.first(where: { notes[$0]?.isStateRead == false }) {
            try readState(of: device, outbox, token: token, now: now)
            return true
        }
        // What failed beside the samples never stands before them twice in a row.
        let yields = reports.yieldsToBatch
        if !yields, try workBeside(outbox, awake: awake, token: token, now: now) { return true }
        let asleep = Set(devices).subtracting(awake)
        let mayGo = wantsAllNow || meteredWait() == nil
        let isSent = try mayGo && sendBatch(outbox, resting: asleep, token: token, now: now)
        reports.batchHadItsTurn()
        if isSent { return true }
        if yields, try workBeside(outbox, awake: awake, token: token, now: now) { return true }
        for device in awake {
            if try sendReport(of: device, outbox, token: token, now: now, atRest: true) { return true }
        }
        return try mayGo && compare(outbox, awake: awake, resting: asleep, token: token, now: now)
    }

    /// What is no sample, and goes before them: gaps, so that `complete_through` of a batch may count them.
    private func workBeside(
        _ outbox: any UploadOutbox, awake: [DeviceID], token: String, now: Duration
    ) throws -> Bool {
        if let device = awake.first(where: { wantsState($0, now: now) }) {
            try readState(of: device, outbox, token: token, now: now)
            return true
        }
        if try keepLeases(outbox, token: token, now: now) { return true }
        if try syncPersons(outbox, token: token, now: now) { return true }
        for device in awake {
            if try sendGaps(of: device, outbox, token: token, now: now) { return true }
        }
        for device in awake {
            if try sendReport(of: device, outbox, token: token, now: now, atRest: false) { return true }
        }
        return false
    }

    func openedOutbox() throws -> any UploadOutbox {
        if let outbox { return outbox }
        let opened = try openOutbox()
        outbox = opened
        return opened
    }
}
