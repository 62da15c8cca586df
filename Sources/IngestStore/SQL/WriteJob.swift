/// What one request changes: what it reads, and what it decides from that. All of it happens in one transaction.
struct WriteJob<Value: Sendable>: Sendable {
    /// Locked before anything of it is read. Nil = the job is about no device.
    var device: DeviceKey?
    /// Whether a device that is not known becomes known.
    var makesDevice = false
    /// In a transaction of its own: what becomes of it must not become of others.
    var goesAlone = false
    var reads: [SQLCall] = []
    /// From the device's row, nil when it is not known, and the results of `reads`. Pure; may run again.
    var decide: @Sendable (DeviceRow?, [SQLResult]) throws(StorageFailure) -> Decision<Value>
}

/// What a job came to.
struct Decision<Value: Sendable>: Sendable {
    var value: Value
    var writes: [SQLCall] = []
}

/// A job in the queue, whatever its value is, and how to tell its outcome once the group is durable.
struct WaitingJob: Sendable {
    let device: DeviceKey?
    let asked: ContinuousClock.Instant
    /// With the lock of the device first.
    let reads: [SQLCall]
    let fail: @Sendable (StorageFailure) -> Void
    var goesAlone: Bool
    /// How often another transaction's lock was in its way.
    var heldUp = 0
    /// It is not tried again before.
    var notBefore: ContinuousClock.Instant?
    private let makesDevice: Bool
    private let decide:
        @Sendable (DeviceRow?, [SQLResult]) -> Result<([SQLCall], @Sendable () -> Void), StorageFailure>

    /// What becomes of a job in a transaction.
    enum Outcome: Sendable {
        /// What to write, and what to do once it is durable.
        case decided([SQLCall], deliver: @Sendable () -> Void)
        /// Another transaction has the device.
        case heldUp
    }

    init<Value: Sendable>(
        _ job: WriteJob<Value>, asked: ContinuousClock.Instant,
        deliver: @escaping @Sendable (Result<Value, StorageFailure>) -> Void
    ) {
        device = job.device
        self.asked = asked
        goesAlone = job.goesAlone
        makesDevice = job.makesDevice
        reads = (job.device.map { [SQLCall(DeviceStatement.lock, .bytes($0.id))] } ?? []) + job.reads
        fail = { deliver(.failure($0)) }
        decide = { row, results in
            do throws(StorageFailure) {
                let decision = try job.decide(row, results)
                return .success((decision.writes, { deliver(.success(decision.value)) }))
            } catch {
                return .failure(error)
            }
        }
    }

    /// What one job can't do leaves the others alone.
    func run(_ results: [SQLResult], in session: any SQLSession) throws(StorageFailure) -> Outcome {
        guard let device else { return decided(nil, results) }
        var results = results[...]
        if results.first?.rows.isEmpty != false {
            if makesDevice {
                // Another server may make it at this moment: what it stored is read again, now behind the lock.
                results = try session.run(device.make + reads)[...].dropFirst(device.make.count)
                if results.first?.rows.isEmpty != false { return .heldUp }
            } else if try session.first(SQLCall(DeviceStatement.read, device.value)) != nil {
                return .heldUp
            }
        }
        do throws(StorageFailure) {
            let row = try results.first?.rows.first.map { row throws(StorageFailure) in try DeviceRow(row) }
            try row?.check(device)
            return decided(row, Array(results.dropFirst()))
        } catch {
            let fail = fail
            return .decided([], deliver: { fail(error) })
        }
    }

    private func decided(_ row: DeviceRow?, _ results: [SQLResult]) -> Outcome {
        switch decide(row, results) {
        case .success(let (writes, deliver)): return .decided(writes, deliver: deliver)
        case .failure(let failure):
            let fail = fail
            return .decided([], deliver: { fail(failure) })
        }
    }
}
