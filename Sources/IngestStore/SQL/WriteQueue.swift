import Threading

/// One connection that writes. Requests that wait while a commit syncs are committed together by the next.
actor WriteQueue {
    /// Past it a request is refused, not kept.
    private static let waitingLimit = 1024
    /// Bounds how long the first of a group waits for the last.
    private static let groupLimit = 64
    /// A transaction that the engine took back is tried again so often.
    private static let attempts = 4

    private let executor = QueueExecutor(label: "ingest-writer")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var slot: SessionSlot
    private let lockPauses: LockPauses
    private var rules: WaitingRules
    private var waiting: [WaitingJob] = []
    /// A task is on its way that commits a group.
    private var isCalled = false
    private var isClosed = false
    /// Groups committed so far.
    private(set) var commits = 0
    /// When something was last written durably; nil after a failure.
    private(set) var lastSuccess: ContinuousClock.Instant?
    var room = RoomDoubt()
    /// A proof of room that failed: it writes much, and anybody may ask for one. Nil once the doubt is over.
    var failedProof: (at: ContinuousClock.Instant, failure: StorageFailure)?
    let proofLasts: Duration
    nonisolated let probes = SharedProbe()
    /// What the transaction that runs, or ran last, had to write.
    private var bytesOfGroup = 0

    init(_ engine: any SQLEngine, lockPauses: LockPauses = LockPauses(), limits: TimeLimits = .request) {
        slot = SessionSlot(engine, toWrite: true)
        self.lockPauses = lockPauses
        rules = WaitingRules(limits)
        proofLasts = limits.proof
    }

    nonisolated func perform<Value: Sendable>(_ job: WriteJob<Value>) async throws(StorageFailure) -> Value {
        let asked = ContinuousClock.now
        return try await perform(job, asked: asked)
    }

    /// Runs the job, which was asked for then, in a transaction, maybe with others; returns after the commit.
    ///
    /// Whoever asks goes on beside the queue: by the time there is an answer it may be at the next group.
    nonisolated func perform<Value: Sendable>(
        _ job: WriteJob<Value>, asked: ContinuousClock.Instant
    ) async throws(StorageFailure) -> Value {
        let result = await withCheckedContinuation { continuation in
            let job = WaitingJob(job, asked: asked) { continuation.resume(returning: $0) }
            executor.queue.async { @Sendable in self.assumeIsolated { $0.take(job) } }
        }
        return try result.get()
    }

    private func take(_ job: WaitingJob) {
        guard !isClosed else { return job.fail(StorageFailure(.unavailable, "the storage is closed")) }
        if let refusal = rules.refusal(job.asked, at: .now) { return job.fail(refusal) }
        guard waiting.count < Self.waitingLimit else {
            return job.fail(
                StorageFailure(.overloaded, "\(Self.waitingLimit) requests wait for the storage"))
        }
        waiting.append(job)
        // What is already on its way to this actor joins the group before the task runs.
        call()
    }

    /// Jobs that wait for the end of another transaction.
    var held: Int { waiting.filter { $0.heldUp > 0 }.count }

    func close() {
        isClosed = true
        // What is still waiting is committed first: it was accepted before.
        while !waiting.isEmpty { commitGroup() }
        slot.close()
    }

    private func call() {
        guard !isCalled else { return }
        isCalled = true
        Task { self.commitGroup() }
    }

    private func commitGroup() {
        isCalled = false
        let now = ContinuousClock.now
        dropOverdue(at: now)
        let group = takeGroup(at: now)
        // Those that are held up call when they are due.
        guard !group.isEmpty else { return }
        if !waiting.isEmpty { call() }
        commit(group)
    }

    /// Answers those that are not begun any more.
    private func dropOverdue(at now: ContinuousClock.Instant) {
        let refused = waiting.map { rules.refusal($0.asked, at: now) }
        guard refused.contains(where: { $0 != nil }) else { return }
        let jobs = waiting
        waiting = zip(jobs, refused).filter { $1 == nil }.map(\.0)
        for (job, refusal) in zip(jobs, refused) { if let refusal { job.fail(refusal) } }
    }

    /// Those that wait longest, one of each device: a job must see what the one before it wrote.
    private func takeGroup(at now: ContinuousClock.Instant) -> [WaitingJob] {
        var group: [WaitingJob] = []
        var rest: [WaitingJob] = []
        var devices: Set<[UInt8]> = []
        for job in waiting {
            let isFree = job.device.map { !devices.contains($0.id) } ?? true
            let isDue = isClosed || job.notBefore.map { $0 <= now } ?? true
            // One that goes alone has its turn when it has waited longest.
            let isWelcome = group.first.map { !$0.goesAlone && !job.goesAlone } ?? true
            if group.count < Self.groupLimit, isFree, isDue, isWelcome {
                group.append(job)
            } else {
                rest.append(job)
            }
            // Also of what waits: the order of one device's requests is theirs.
            if let device = job.device { devices.insert(device.id) }
        }
        waiting = rest
        return group
    }

    private func commit(_ group: [WaitingJob]) {
        // All who make devices make them in the same order, so nobody waits in a circle.
        let group = group.sorted { ($0.device?.id ?? []).lexicographicallyPrecedes($1.device?.id ?? []) }
        let asked = group.map(\.asked).min() ?? .now
        do {
            let outcomes = try attempt(group, until: rules.end(asked))
            commits += 1
            // A transaction that wrote nothing proves nothing.
            if bytesOfGroup > 0 {
                lastSuccess = .now
                room.wrote(bytesOfGroup)
                // A small write may find room where a proof finds none: it is no reason for another one.
                if !room.isDoubtful { failedProof = nil }
            }
            for (job, outcome) in zip(group, outcomes) {
                switch outcome {
                case .decided(_, let deliver): deliver()
                case .heldUp: putBack(job)
                }
            }
        } catch {
            // Whose fault it is, or who needs a lock of somebody else, shows when each is alone.
            if error.kind == .defect || error.isContended, group.count > 1 {
                for job in group {
                    if let refusal = rules.refusal(job.asked, at: .now) {
                        job.fail(refusal)
                    } else {
                        commit([job])
                    }
                }
                return
            }
            guard !error.isContended else { return group.forEach { putBack($0, error) } }
            lastSuccess = nil
            rules.note(error, at: .now)
            // Neither a defect nor another's transaction says anything about room, nor does no answer, nor a database that stops. A
            // connection that ended for any other reason may have: a disk that is full takes all of them along.
            if error.kind != .defect, !error.isTransient, !error.isLate, !error.isStop {
                room.failed(bytesOfGroup)
            }
            for job in group { job.fail(error) }
            dropOverdue(at: .now)
        }
    }

    private func attempt(
        _ group: [WaitingJob], until end: ContinuousClock.Instant
    ) throws(StorageFailure) -> [WaitingJob.Outcome] {
        for _ in 1..<Self.attempts {
            do {
                return try transaction(group, until: end)
            } catch {
                guard error.isTransient, !error.isContended else { throw error }
            }
        }
        return try transaction(group, until: end)
    }

    private func transaction(
        _ group: [WaitingJob], until end: ContinuousClock.Instant
    ) throws(StorageFailure) -> [WaitingJob.Outcome] {
        bytesOfGroup = 0
        return try slot.with(until: end) {
            session throws(StorageFailure) in
            try session.beginWriting(group.flatMap(\.reads))
        } then: { session, read throws(StorageFailure) in
            var results = read[...]
            var writes: [SQLCall] = []
            var outcomes: [WaitingJob.Outcome] = []
            for job in group {
                let own = Array(results.prefix(job.reads.count))
                results = results.dropFirst(job.reads.count)
                let outcome = try job.run(own, in: session)
                if case .decided(let calls, _) = outcome { writes += calls }
                outcomes.append(outcome)
            }
            bytesOfGroup = writes.lazy.flatMap(\.values).map(\.size).reduce(0, +)
            try session.commit(writes)
            return outcomes
        }
    }

    // MARK: locks of others

    /// A job that a lock is in the way of is tried again later, before those that came after it; meanwhile others go on.
    /// `failure`: it waited for that lock, with the connection, and won't with others any more.
    private func putBack(_ job: WaitingJob, _ failure: StorageFailure? = nil) {
        let next = ContinuousClock.now + lockPauses.pause(after: job.heldUp, waited: failure != nil)
        // Whoever could not be begun by then need not wait for it.
        guard !isClosed, rules.refusal(job.asked, at: next) == nil else {
            // The storage works: what is in the way is somebody else's.
            return job.fail(
                StorageFailure(.overloaded, failure?.message ?? "another transaction has the device"))
        }
        var job = job
        job.heldUp += 1
        job.notBefore = next
        if failure != nil { job.goesAlone = true }
        waiting.insert(job, at: 0)
        Task {
            try? await Task.sleep(until: next, clock: .continuous)
            self.call()
        }
    }
}

/// The connections that write. What concerns one device goes to the same one always.
struct WritePool: Sendable {
    let queues: [WriteQueue]

    init(_ engine: any SQLEngine, limits: TimeLimits) {
        queues = (0..<max(1, engine.writers)).map { _ in WriteQueue(engine, limits: limits) }
    }

    func perform<Value: Sendable>(_ job: WriteJob<Value>) async throws(StorageFailure) -> Value {
        try await queue(for: job.device).perform(job)
    }

    /// A server's own writes go to the first.
    func queue(for device: DeviceKey?) -> WriteQueue {
        queues[device.map { Int($0.id.first ?? 0) % queues.count } ?? 0]
    }

    var commits: Int {
        get async {
            var sum = 0
            for queue in queues { sum += await queue.commits }
            return sum
        }
    }

    func close() async { for queue in queues { await queue.close() } }
}
