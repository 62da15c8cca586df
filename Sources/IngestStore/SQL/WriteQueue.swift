/// One connection that writes. Requests that wait while a commit syncs are committed together by the next.
actor WriteQueue {
    /// Enough for every connection that the HTTP server takes; past it a request is refused, not kept.
    private static let waitingLimit = 1024
    /// Bounds how long the first of a group waits for the last.
    private static let groupLimit = 64
    /// A transaction that the engine took back is tried again so often.
    private static let attempts = 4

    private let executor = QueueExecutor(label: "ingest-writer")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private var slot: SessionSlot
    private var waiting: [WaitingJob] = []
    private var isClosed = false
    /// Groups committed so far.
    private(set) var commits = 0
    /// When something was last written durably; nil after a failure.
    private(set) var lastSuccess: ContinuousClock.Instant?
    var room = RoomDoubt()
    /// What the transaction that runs, or ran last, had to write.
    private var bytesOfGroup = 0

    init(_ engine: any SQLEngine) { slot = SessionSlot(engine, toWrite: true) }

    /// Runs the job in a transaction, maybe with others; returns after the commit.
    func perform<Value: Sendable>(_ job: WriteJob<Value>) async throws(StorageFailure) -> Value {
        guard !isClosed else { throw StorageFailure(.unavailable, "the storage is closed") }
        guard waiting.count < Self.waitingLimit else {
            throw StorageFailure(.overloaded, "\(Self.waitingLimit) requests wait for the storage")
        }
        let result = await withCheckedContinuation { continuation in
            waiting.append(WaitingJob(job) { continuation.resume(returning: $0) })
            // What is already on its way to this actor joins the group before the task runs.
            if waiting.count == 1 { Task { self.commitGroup() } }
        }
        return try result.get()
    }

    func close() {
        isClosed = true
        // What is still waiting is committed first: it was accepted before.
        while !waiting.isEmpty { commitGroup() }
        slot.close()
    }

    private func commitGroup() {
        let group = takeGroup()
        guard !group.isEmpty else { return }
        if !waiting.isEmpty { Task { self.commitGroup() } }
        commit(group)
    }

    /// Those that wait longest, one of each device: a job must see what the one before it wrote.
    private func takeGroup() -> [WaitingJob] {
        var group: [WaitingJob] = []
        var rest: [WaitingJob] = []
        var devices: Set<[UInt8]> = []
        for job in waiting {
            let isFree = job.device.map { !devices.contains($0.id) } ?? true
            // One that goes alone has its turn when it has waited longest.
            let isWelcome = group.first.map { !$0.goesAlone && !job.goesAlone } ?? true
            if group.count < Self.groupLimit, isFree, isWelcome {
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
        // All who lock devices lock them in the same order, so nobody waits in a circle.
        let group = group.sorted { ($0.device?.id ?? []).lexicographicallyPrecedes($1.device?.id ?? []) }
        do {
            let outcomes = try attempt(group)
            commits += 1
            // A transaction that wrote nothing proves nothing.
            if bytesOfGroup > 0 {
                lastSuccess = .now
                room.wrote(bytesOfGroup)
            }
            for outcome in outcomes { outcome() }
        } catch {
            // Whose fault it is shows when each is alone.
            if error.kind == .defect, group.count > 1 { return group.forEach { commit([$0]) } }
            lastSuccess = nil
            // Neither a defect nor another's lock says anything about room.
            if error.kind != .defect, !error.isTransient { room.failed(bytesOfGroup) }
            for job in group { job.fail(error) }
        }
    }

    private func attempt(_ group: [WaitingJob]) throws(StorageFailure) -> [@Sendable () -> Void] {
        for _ in 1..<Self.attempts {
            do {
                return try transaction(group)
            } catch {
                guard error.isTransient else { throw error }
            }
        }
        return try transaction(group)
    }

    private func transaction(_ group: [WaitingJob]) throws(StorageFailure) -> [@Sendable () -> Void] {
        bytesOfGroup = 0
        return try slot.with {
            session throws(StorageFailure) in
            try session.beginWriting(group.flatMap(\.reads))
        } then: { session, read throws(StorageFailure) in
            var results = read[...]
            var writes: [SQLCall] = []
            var outcomes: [@Sendable () -> Void] = []
            for job in group {
                let own = Array(results.prefix(job.reads.count))
                results = results.dropFirst(job.reads.count)
                let (calls, outcome) = try job.run(own, in: session)
                writes += calls
                outcomes.append(outcome)
            }
            bytesOfGroup = writes.lazy.flatMap(\.values).map(\.size).reduce(0, +)
            try session.commit(writes)
            return outcomes
        }
    }
}

/// The connections that write. What concerns one device goes to the same one always.
struct WritePool: Sendable {
    let queues: [WriteQueue]

    init(_ engine: any SQLEngine) { queues = (0..<max(1, engine.writers)).map { _ in WriteQueue(engine) } }

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
