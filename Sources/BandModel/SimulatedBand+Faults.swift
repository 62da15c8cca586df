import BandProfile

extension SimulatedBand {
    private func strikes(_ kind: FaultKind, _ count: UInt64) -> Fault? {
        options.faults.strikes(kind, count: count, seed: options.seed)
    }

    /// Faults of link, stream and ring that come instead of the `count`th notification. True = look again.
    mutating func strikeBefore(notification count: UInt64) -> Bool {
        if strikes(.disconnect, count) != nil {
            linkDown()
            return true
        }
        if strikes(.stall, count) != nil {
            stream?.stalled = true
            return true
        }
        if let fault = strikes(.overwrite, count) {
            overwrite(Int(fault.amount))
            return true
        }
        if let fault = strikes(.reformat, count) {
            format()
            record(Int(fault.amount), now: state.now)
            return true
        }
        if let fault = strikes(.rollback, count) {
            let newest = state.ring.newest
            let lost = min(newest, UInt32(clamping: fault.amount))
            rollBack(to: newest - lost)
            // Fewer than were forgotten, so that the ring still ends below what a gateway may know.
            record(Int(lost) / 2, now: state.now)
            return true
        }
        if let fault = strikes(.clockStep, count) {
            stepClock(by: fault.amount, now: state.now)
            record(1, now: state.now)
            return true
        }
        return false
    }

    /// Faults of one notification on the air. False = `buffer` is not to be sent now.
    mutating func deliver(
        _ buffer: inout [UInt8], covering range: ClosedRange<UInt32>, notification count: UInt64
    ) -> Bool {
        spoil(&buffer, covering: range, notification: count)
        if strikes(.drop, count) != nil { return false }
        if strikes(.duplicate, count) != nil { queued.append(buffer) }
        if let late = lateEnd {
            queued.append(late)
            lateEnd = nil
        }
        if let late = held {
            held = nil
            queued.append(late)
            return true
        }
        if strikes(.reorder, count) != nil {
            held = buffer
            return false
        }
        if strikes(.empty, count) != nil {
            queued.insert(buffer, at: 0)
            buffer = []
        }
        return true
    }

    private func spoil(
        _ buffer: inout [UInt8], covering range: ClosedRange<UInt32>, notification count: UInt64
    ) {
        if options.faults.names(.unreadable, in: range) { buffer[0] = 0x7f }
        if strikes(.badVersion, count) != nil { buffer[0] = 2 }
        if strikes(.badKind, count) != nil { buffer[1] = 9 }
        if strikes(.badOrder, count) != nil {
            // One record: seq 0 does not exist. More: the first two change places.
            let size = BandHistory.recordSize
            let start = BandHistory.headerSize
            if range.count == 1 {
                for offset in 0..<4 { buffer[start + offset] = 0 }
            } else {
                for offset in start..<start + size { buffer.swapAt(offset, offset + size) }
            }
        }
        if strikes(.truncate, count) != nil {
            let kept = 1 + Int(Mixer.mix(options.seed, count, 0x7c) % UInt64(buffer.count - 1))
            buffer.removeLast(buffer.count - kept)
        }
    }
}

extension BandState {
    func seed(of ring: SimulatedRing) -> UInt64 { Mixer.mix(options.seed, UInt64(ring.id)) }

    /// A record as the band sends it. Content faults sit in flash: they are the same each time.
    func record(_ seq: UInt32, of segment: RecordSegment, seed: UInt64) -> HistoryRecord {
        var record = segment.record(seq, seed: seed)
        guard !options.faults.faults.isEmpty else { return record }
        if hasContentFault(.badType, seq) { record.type = 0x77 }
        if hasContentFault(.badMilliseconds, seq) { record.milliseconds = 1_000 + record.milliseconds }
        if hasContentFault(.badOffset, seq) { record.offsetQuarterHours = 100 }
        if hasContentFault(.badValue, seq) { record.value = -1 }
        return record
    }

    private func hasContentFault(_ kind: FaultKind, _ seq: UInt32) -> Bool {
        options.faults.names(kind, in: seq...seq)
            || options.faults.strikes(kind, count: UInt64(seq), seed: options.seed) != nil
    }
}
