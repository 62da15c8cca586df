import BandProfile
import GatewayModel

/// What the store should hold of one ring, kept in the simplest way that could be right: sets of single seqs.
struct StoreModel {
    struct Key: Hashable {
        var seq: UInt32
        var type: UInt8
    }

    var next: UInt32 = 1
    var stored: [Key: HistoryRecord] = [:]
    /// Second readings of a key, each once.
    var conflicts: Set<HistoryRecord> = []
    var unsentConflicts: Set<HistoryRecord> = []
    var raw: Set<HistoryRecord> = []
    var missing: [UInt32: GapCause] = [:]
    var healed: Set<UInt32> = []
    var asked: Set<UInt32> = []
    var unconfirmed: Set<UInt32> = []
    var quarantined: Set<Key> = []
    var versions: [Key: Int] = [:]

    private func isStored(_ seq: UInt32) -> Bool { stored.keys.contains { $0.seq == seq } }
    private func isKnown(_ seq: UInt32) -> Bool { missing[seq] != nil || isStored(seq) }

    mutating func commit(_ chunk: Chunk) {
        for timed in chunk.records {
            let record = timed.record
            let key = Key(seq: record.seq, type: record.type)
            if record.contentFault != nil {
                raw.insert(record)
            } else if let known = stored[key] {
                if known != record, conflicts.insert(record).inserted { unsentConflicts.insert(record) }
            } else {
                stored[key] = record
                versions[key] = 1
                unconfirmed.insert(record.seq)
                if missing.removeValue(forKey: record.seq) != nil { healed.insert(record.seq) }
                asked.remove(record.seq)
            }
        }
        for timed in chunk.records where timed.record.contentFault != nil {
            if !isKnown(timed.record.seq) { missing[timed.record.seq] = .unreadable }
        }
        for gap in chunk.gaps { write(gap) }
        for suspect in chunk.openQuestions {
            for seq in suspect.firstSeq...(suspect.lastSeq ?? suspect.firstSeq) where !isKnown(seq) {
                asked.insert(seq)
            }
        }
        next = max(next, chunk.through + 1)
    }

    mutating func write(_ gap: Gap) {
        for seq in gap.firstSeq...(gap.lastSeq ?? gap.firstSeq) {
            if !isKnown(seq) { missing[seq] = gap.cause }
            asked.remove(seq)
        }
    }

    mutating func rewind(to seq: UInt32) { next = seq }

    /// These rows of a batch were confirmed; `rejected` before them quarantined.
    mutating func confirm(_ keys: Set<Key>) {
        for seq in Set(keys.map(\.seq)) {
            let rows = stored.keys.filter { $0.seq == seq }
            guard rows.allSatisfy({ keys.contains($0) || quarantined.contains($0) }) else { continue }
            unconfirmed.remove(seq)
            // The server took what it had refused before.
            if !rows.contains(where: quarantined.contains), missing[seq] == .unreadable {
                missing[seq] = nil
                healed.insert(seq)
            }
        }
    }

    mutating func release() {
        for key in quarantined { unconfirmed.insert(key.seq) }
        quarantined.removeAll()
    }

    mutating func quarantine(_ key: Key) {
        quarantined.insert(key)
        missing[key.seq] = .unreadable
        healed.remove(key.seq)
        confirm([key])
    }

    mutating func correct(_ seqs: ClosedRange<UInt32>) {
        for key in stored.keys where seqs.contains(key.seq) {
            versions[key, default: 1] += 1
            unconfirmed.insert(key.seq)
            // Its gap stays until the server has taken it.
            quarantined.remove(key)
        }
    }

    var ackThrough: UInt32 { asked.min().map { min($0 - 1, next - 1) } ?? (next - 1) }

    /// With every gap sent.
    var completeThrough: UInt32? {
        let limits = [
            next, asked.min() ?? next, unconfirmed.min() ?? next, unsentConflicts.map(\.seq).min() ?? next,
        ]
        return (limits.min() ?? 1) > 1 ? (limits.min() ?? 1) - 1 : nil
    }
}
