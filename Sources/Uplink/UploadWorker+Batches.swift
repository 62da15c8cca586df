import GatewayModel
import IngestAPI
import UploadDecisions

/// Samples: one batch a step, the devices in turn.
extension UploadWorker {
    func sendBatch(
        _ outbox: any UploadOutbox, resting: Set<DeviceID>, token: String, now: Duration
    ) throws -> Bool {
        let full = schedule.limits.batchSize
        var batch = try outbox.nextBatch(limit: full, skipping: served.union(resting))
        if batch == nil, !served.isEmpty {
            served.removeAll()
            batch = try outbox.nextBatch(limit: full, skipping: resting)
        }
        guard let batch, !batch.samples.isEmpty else { return false }
        guard notes[batch.device]?.isStateRead == true else {
            // A band that came since the look began. Ingest API 1: what the server knows of it is read first.
            try listDevices(outbox, now: now)
            return true
        }
        served.insert(batch.device)
        let outgoing = try cut(batch, outbox)
        try send(outgoing, outbox, token: token, now: now)
        return true
    }

    /// The part of a pending batch that is sent, with what it completes.
    private struct Outgoing {
        let batch: PendingBatch
        var range: Range<Int>
        var completeThrough: UInt32?
        let isCompressed: Bool

        var samples: ArraySlice<Sample> { batch.samples[range] }
    }

    private func cut(_ batch: PendingBatch, _ outbox: any UploadOutbox) throws -> Outgoing {
        let plan = schedule.plan(for: batch.device.text)
        let count = batch.samples.count
        var range = 0..<min(plan.limit, count)
        if plan.isProbe {
            let index = Int.random(in: 0..<count, using: &random)
            range = index..<index + 1
        }
        let isWhole = range.count == count
        var completeThrough = isWhole ? batch.completeThrough : try outbox.completeThrough(of: batch, range)
        if notes[batch.device].map({ $0.lacking > 0 }) ?? false { completeThrough = nil }
        return Outgoing(
            batch: batch, range: range, completeThrough: completeThrough, isCompressed: plan.isCompressed)
    }

    private func send(_ whole: Outgoing, _ outbox: any UploadOutbox, token: String, now: Duration) throws {
        let device = whole.batch.device
        var part = whole
        var syncID = syncID(for: part)
        var body = encode(part, syncID: syncID)
        while body.count > IngestAPI.maxBatchBytes, part.range.count > 1 {
            part.range = part.range.prefix(part.range.count / 2)
            part.completeThrough = nil
            syncID = self.syncID(for: part)
            body = encode(part, syncID: syncID)
        }
        let sent = SentBatch(
            syncID: syncID, samples: part.samples.map { .init(type: $0.type.name, seq: $0.seq) },
            isCompressed: part.isCompressed)
        let isRetry = notes[device]?.attempt?.wasPosted ?? false
        notes[device]?.attempt?.wasPosted = true
        runSends(syncID, samples: part.range.count)
        board.sending(part.range.count)
        let outcome = server.postBatch(body, compressed: part.isCompressed, token: token)
        board.sending(0)
        let decision = StatusTable.decide(outcome, batch: sent, wallTime: wallTime)
        let action = schedule.batchEnded(
            decision, device: device.text, count: part.range.count, now: clock.monotonic, using: &random)
        if decision == .sendIdentity {
            notes[device]?.attempt?.wasPosted = isRetry
            board.log(.compressionOff)
        }
        switch action {
        case .nothing:
            break
        case .settle(let verdict):
            notes[device]?.attempt = nil
            reports.batchSettled(of: device.text)
            run.settled(verdict)
            try settle(verdict, of: part, isRetry: isRetry, outbox)
        case .quarantine(let refusal):
            run.quarantined(part.range.count)
            try outbox.quarantine(
                part.batch, Array(part.range), code: refusal.code, message: refusal.message)
            board.log(
                .quarantined(
                    device: device, ring: part.batch.ring, count: part.range.count, code: refusal.code))
        }
        schedule.outboxWorks()
    }

    private func settle(
        _ verdict: BatchVerdict, of part: Outgoing, isRetry: Bool, _ outbox: any UploadOutbox
    ) throws {
        let batch = part.batch
        let offset = part.range.lowerBound
        if !verdict.confirmed.isEmpty {
            // A retry whose first answer was lost knows itself again, where nobody else is at work.
            let contested = try verdict.duplicates > 0 && (!isRetry || outbox.isShared(batch.device))
            try outbox.confirm(batch, verdict.confirmed.map { $0 + offset }, contested: contested)
            board.confirmed(verdict.confirmed.count, at: clock.wall)
        }
        for rejected in verdict.rejected {
            try outbox.quarantine(
                batch, [rejected.index + offset], code: rejected.code, message: rejected.message)
        }
        if !verdict.held.isEmpty {
            try outbox.hold(
                batch, verdict.held.map { $0 + offset }, code: RejectionCode.consentMissing.rawValue,
                message: "")
        }
        board.log(
            .batchSettled(
                device: batch.device, ring: batch.ring, confirmed: verdict.confirmed.count,
                accepted: verdict.accepted, duplicates: verdict.duplicates, corrected: verdict.corrected,
                conflicts: verdict.conflicts, rejected: verdict.rejected.count, held: verdict.held.count))
        for (code, count) in Dictionary(grouping: verdict.rejected, by: \.code).mapValues(\.count) {
            board.log(.quarantined(device: batch.device, ring: batch.ring, count: count, code: code))
        }
    }

    private func syncID(for part: Outgoing) -> String {
        let fingerprint = BatchFingerprint(
            ring: part.batch.ring, completeThrough: part.completeThrough, samples: part.samples)
        let device = part.batch.device
        if let attempt = notes[device]?.attempt, attempt.fingerprint == fingerprint { return attempt.syncID }
        let syncID = random.uuid()
        notes[device]?.attempt = Attempt(fingerprint: fingerprint, syncID: syncID)
        return syncID
    }

    private func encode(_ part: Outgoing, syncID: String) -> [UInt8] {
        BatchEncoder.encode(
            device: part.batch.device, ring: part.batch.ring, syncID: syncID,
            completeThrough: part.completeThrough, samples: part.samples)
    }
}
