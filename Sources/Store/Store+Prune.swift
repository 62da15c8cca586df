import GatewayModel

/// Lets go of what the server has and nobody here needs any more.
extension Store {
    /// One slice of what is older than the limits say. Returns how many samples went; nil when there is nothing more to
    /// look at for now, also because no time can be told that this host's clock was ever known to be right at: a clock
    /// that is years ahead must not make everything old.
    public func prune() throws(StoreError) -> Int? {
        guard let age = limits.keptFor, let trusted = try latestTrustedTime() else {
            prunePosition = nil
            return nil
        }
        let now = min(wallTime, trusted)
        // Whole days, and one more, so that every civil day of the kept time is whole.
        let day = DayTable.day(now.milliseconds - age.milliseconds) - 1
        let cutoff = day * DayTable.milliseconds
        let position = prunePosition ?? Pruner.Position()
        let step = try write("let old samples go") { engine, _ -> (next: Pruner.Position, count: Int)? in
            let pruner = try Pruner(engine.database)
            if let step = try pruner.step(from: position, cutoff: cutoff) { return step }
            try pruner.tidy(cutoff: cutoff)
            return nil
        }
        prunePosition = step?.next
        return step?.count
    }

    /// What of the samples is known and no longer stored: how many seqs. For tests.
    package func prunedCount() throws(StoreError) -> Int {
        try read("count what was let go") { engine in
            try engine.database.first("SELECT coalesce(sum(last_seq - first_seq + 1), 0) FROM pruned") {
                $0.int(0)
            } ?? 0
        }
    }
}

extension Outbox {
    /// The first UTC day since 1970 of which all samples that were stored still are; nil = all days.
    public func keptFrom() throws(StoreError) -> Int64? {
        try storing("look up what was let go", path) {
            try MetaTable(database: database).read(.prunedBefore).map { DayTable.day($0) }
        }
    }
}

extension Duration {
    fileprivate var milliseconds: Int64 { components.seconds * 1_000 }
}
