import BandProfile

extension SimulatedBand {
    /// What the stream sends now, at most `max` notifications; fewer when it waits for an ack, ended or was cut.
    public mutating func nextNotifications(max limit: Int) -> [[UInt8]] {
        var result: [[UInt8]] = []
        var buffer: [UInt8] = []
        while result.count < limit, nextNotification(into: &buffer) { result.append(buffer) }
        return result
    }

    /// Puts the next notification into a reused buffer. False = nothing to send now.
    ///
    /// A fault may cut the link meanwhile: see `isLinked` when it returns false.
    public mutating func nextNotification(into buffer: inout [UInt8]) -> Bool {
        while isLinked, notificationsEnabled {
            if !queued.isEmpty {
                buffer = queued.removeFirst()
                return true
            }
            guard let current = stream, !current.stalled else { return release(into: &buffer) }
            if options.window > 0, current.outstandingCount >= Int(options.window) {
                return release(into: &buffer)
            }
            guard let range = nextRange() else {
                let ended = stream ?? current
                stream = nil
                finish(ended, status: .complete)
                if let held { queued.append(held) }
                held = nil
                if queued.isEmpty { return false }
                continue
            }
            state.counters.notifications += 1
            let count = state.counters.notifications
            let faults = options.faults
            if !faults.faults.isEmpty, strikeBefore(notification: count) { continue }
            encode(range, into: &buffer)
            sent(range)
            if faults.faults.isEmpty || deliver(&buffer, covering: range, notification: count) { return true }
        }
        return false
    }

    // MARK: the next notification

    /// Seqs of the next notification; nil when the stream has caught up.
    private mutating func nextRange() -> ClosedRange<UInt32>? {
        guard var current = stream else { return nil }
        let ring = state.ring
        current.next = max(current.next, ring.oldest)
        let hasAbsent = options.faults.contains(.absent)
        while hasAbsent, current.next <= ring.newest, isAbsent(current.next) {
            current.covered = current.next
            current.next += 1
        }
        stream = current
        guard current.next <= ring.newest else { return nil }
        let segment = ring.segments[ring.segmentIndex(of: current.next)]
        let most = UInt32(BandHistory.recordsPerNotification(mtu: mtu))
        var last = min(current.next + most - 1, ring.newest)
        // The header has one clock id: a notification never spans a step of the clock.
        last = min(last, segment.end - 1)
        if hasAbsent {
            for seq in current.next...last where isAbsent(seq) {
                last = seq - 1
                break
            }
        }
        return current.next...last
    }

    private func isAbsent(_ seq: UInt32) -> Bool { options.faults.names(.absent, in: seq...seq) }

    private func encode(_ range: ClosedRange<UInt32>, into buffer: inout [UInt8]) {
        let ring = state.ring
        let segment = ring.segments[ring.segmentIndex(of: range.lowerBound)]
        let seed = state.seed(of: ring)
        NotificationEncoder.begin(&buffer, clockID: segment.clock.id)
        for seq in range {
            NotificationEncoder.append(
                &buffer, record: state.record(seq, of: segment, seed: seed))
        }
    }

    private mutating func sent(_ range: ClosedRange<UInt32>) {
        stream?.next = range.upperBound + 1
        stream?.covered = range.upperBound
        if options.window > 0 { stream?.sent(lastSeq: range.upperBound) }
        state.ring.everSent = max(state.ring.everSent, range.upperBound)
    }

    /// Nothing new may be sent: what "reorder" held back goes now, so that it is late but never lost.
    private mutating func release(into buffer: inout [UInt8]) -> Bool {
        guard let late = held else { return false }
        held = nil
        buffer = late
        return true
    }

    /// Queues the END of a stream, unless the script loses or delays it.
    mutating func finish(_ ended: HistoryStream, status: StreamEnd.Status) {
        let last = min(ended.covered, state.ring.newest)
        let end = StreamEnd(
            lastSeq: last, oldestSeq: state.ring.oldest, status: status, clockID: state.clock.id)
        let bytes = HistoryNotification.end(end).encoded
        state.counters.ends += 1
        let count = state.counters.ends
        if let late = lateEnd {
            queued.append(late)
            lateEnd = nil
        }
        if options.faults.strikes(.noEnd, count: count, seed: options.seed) != nil { return }
        if options.faults.strikes(.lateEnd, count: count, seed: options.seed) != nil {
            lateEnd = bytes
            return
        }
        queued.append(bytes)
    }
}
