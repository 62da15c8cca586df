import IngestAPI
import SampleChunks

/// Takes in one batch and counts what became of each sample.
struct BatchJob {
    private let batch: ReceivedBatch
    private let device: DeviceKey
    private let ring: Int64
    private let now: APITime
    private let lookups: [ClosedRange<UInt32>]

    init(_ batch: ReceivedBatch, account: String, now: APITime) {
        self.batch = batch
        self.now = now
        device = DeviceKey(account: account, name: batch.deviceID)
        ring = RingCode.number(batch.ring)
        lookups = ChunkLayout.lookups(batch.samples.compactMap { try? $0.get().seq })
    }

    var job: WriteJob<BatchAnswer> {
        let reads =
            [
                SQLCall(DeviceStatement.ring, device.value, .int(ring)),
                SQLCall(
                    DeviceStatement.ringBeyond, device.value, .int(IngestAPI.maxRingsPerDevice - 1)),
            ] + lookups.map { ChunkRows.around($0, ring: ring, device) }
            + lookups.map { ExpiredRows.around($0, ring: ring, device) }
        return WriteJob(device: device, makesDevice: true, reads: reads) {
            row, results throws(StorageFailure) in
            guard let row else { throw StorageFailure(.defect, "a device was not made") }
            return try decide(row, results)
        }
    }

    private func decide(
        _ row: DeviceRow, _ results: [SQLResult]
    ) throws(StorageFailure) -> Decision<BatchAnswer> {
        let known = try results[0].rows.first.map { row throws(StorageFailure) in try RingLedger(row) }
        guard known != nil || results[1].rows.isEmpty else { throw .full("rings") }
        var ledger = known ?? RingLedger(ring: ring, firstSeen: now)
        let chunks = try ChunkSet(lookups, results.dropFirst(2).prefix(lookups.count))
        let expired = try ExpiredRows.keys(results.dropFirst(2 + lookups.count))
        var merge = ChunkMerge(stored: chunks.stored, expired: expired)
        var answer = BatchAnswer(syncID: batch.syncID)
        var notes = DeviceNotes(row)
        var writes: [SQLCall] = []
        // In order: a key repeated inside a batch meets what came before it.
        for (index, result) in batch.samples.enumerated() {
            let sample: APISample
            switch result {
            case .success(let taken): sample = taken
            case .failure(let refused):
                answer.rejected.append(
                    BatchAnswer.Rejected(index: index, code: refused.code.rawValue, message: refused.message))
                continue
            }
            notes.saw(sample)
            switch merge.take(sample) {
            case .accepted:
                answer.accepted += 1
                ledger.add(sample.type, sample.seq)
                notes.changed(from: nil, to: sample)
            case .duplicate:
                answer.duplicates += 1
            case .replaced(let old, let counts):
                if counts == .asCorrected { answer.corrected += 1 } else { answer.duplicates += 1 }
                notes.changed(from: old, to: old.derived(from: sample))
            case .conflict:
                answer.conflicts.append(
                    BatchAnswer.Conflict(index: index, type: sample.type.rawValue, seq: sample.seq))
                writes.append(keepBeside(sample))
            }
        }
        if let through = completeThrough {
            ledger.completeThrough = max(ledger.completeThrough ?? 0, through)
        }
        answer.ackSeq = ledger.ackSeq
        if ledger != known { writes.append(ledger.put(device)) }
        if merge.isChanged { writes += chunks.writes(merge.samples, ring: ring, device, now: now) }
        return Decision(value: answer, writes: writes + notes.writes(device))
    }

    /// What is claimed to be complete, as far as it can be.
    ///
    /// The claim reads "in this or an earlier confirmed batch", and a rejected sample is not confirmed: what
    /// is claimed at or above the first of them is left out, since another gateway may let the band free it.
    private var completeThrough: UInt32? {
        guard var through = batch.completeThrough else { return nil }
        for case .failure(let rejection) in batch.samples {
            guard let seq = rejection.seq else { return nil }
            through = min(through, seq - 1)
        }
        return through
    }

    /// The same one sent again is kept once.
    private func keepBeside(_ sample: APISample) -> SQLCall {
        var kept = sample
        if kept.person == .unchanged { kept.person = .cleared }
        return SQLCall(
            DeviceStatement.keepConflict, device.value, .int(ring), .int(sample.type.code), .int(sample.seq),
            .int(sample.value), .int(sample.bandTimeMilliseconds), .int(sample.clockID), .int(sample.flags),
            .int(now.milliseconds), .bytes(ChunkCoder.encode([kept])))
    }
}

/// What a batch changes in the row of its device.
private struct DeviceNotes {
    private let before: DeviceRow
    private var row: DeviceRow
    private var touched = TouchedDays()
    /// The first or the last of all times may be none any more.
    private var losesFirst = false
    private var losesLast = false

    init(_ row: DeviceRow) {
        before = row
        self.row = row
    }

    /// Of every sample that could be read, whatever becomes of it.
    mutating func saw(_ sample: APISample) {
        row.maxVersion = max(row.maxVersion, sample.version)
        if case .assigned(let person) = sample.person, !row.persons.contains(person) {
            row.persons.append(person)
        }
    }

    /// The days of what is current now and was before.
    mutating func changed(from old: APISample?, to new: APISample) {
        note(new.recordedAt.milliseconds, insteadOf: old?.recordedAt.milliseconds)
        let places = (old.flatMap(TrendPlace.init), TrendPlace(new))
        guard places.0 != places.1 else { return }
        for place in [places.0, places.1] {
            guard let place else { continue }
            touched.insert(place.type, place.day)
            guard let offset = place.tzOffsetMinutes, !row.offsets.contains(offset) else { continue }
            row.offsets = min(offset, row.offsets.lowerBound)...max(offset, row.offsets.upperBound)
        }
    }

    private mutating func note(_ time: Int64, insteadOf old: Int64?) {
        row.firstTime = min(row.firstTime ?? time, time)
        row.lastTime = max(row.lastTime ?? time, time)
        guard let old, old != time else { return }
        if old == row.firstTime { losesFirst = true }
        if old == row.lastTime { losesLast = true }
    }

    /// To be written after the samples.
    func writes(_ device: DeviceKey) -> [SQLCall] {
        var row = row
        let touched = touched.after(row.frozenThrough)
        if !touched.isEmpty {
            row.touched.formUnion(touched)
            // A day that is touched again while it is computed must not count as computed.
            row.touches &+= 1
        }
        guard row != before || losesFirst || losesLast else { return [] }
        let new = row.persons.dropFirst(before.persons.count)
        return new.flatMap { person in
            [
                SQLCall(AccountStatement.notePerson, .text(device.account), .text(person.text)),
                SQLCall(
                    AccountStatement.notePersonDevice, .text(device.account), .text(person.text),
                    .text(device.name),
                    device.value),
            ]
        } + [
            SQLCall(
                DeviceStatement.noteBatch, device.value, .int(row.maxVersion), .int(row.offsets.lowerBound),
                .int(row.offsets.upperBound), .text(row.personsText), .text(row.touched.text),
                .int(row.touches), .optional(row.firstTime), .optional(row.lastTime))
        ] + (losesFirst ? [SQLCall(DeviceStatement.findFirstTime, device.value)] : [])
            + (losesLast ? [SQLCall(DeviceStatement.findLastTime, device.value)] : [])
    }
}
