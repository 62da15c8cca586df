import CivilTime
import Locking
import TimeZones

/// The zones of this machine's tz database, by name. Nothing is read before it is asked for.
///
/// What was read is kept, and read again when the database was updated.
public final class ZoneDatabase: Sendable {
    private struct Entry {
        var stamp: ZoneStamp
        var rules: ZoneRules
        var lastUse: UInt64
    }

    private struct Cache {
        var entries: [String: Entry] = [:]
        var uses: UInt64 = 0
    }

    /// A zone takes a few kilobytes.
    static let maxEntries = 32

    private let directory: ZoneDirectory
    private let cache = Guarded(Cache())

    public init(directory: ZoneDirectory = .system) { self.directory = directory }

    /// Nil when the database has no zone of that name. Takes a millisecond when it is not known yet.
    public func rules(named name: String) -> ZoneRules? {
        guard let stamp = directory.stamp(ofZone: name) else { return nil }
        if let known = known(name, stamp) { return known }
        guard let rules = directory.zone(named: name).map(ZoneRules.init) else { return nil }
        keep(rules, stamp)
        return rules
    }

    /// The zone that this machine lives in; `UTC` when it does not say.
    public func hostZoneName() -> String { HostZone.name() }

    /// How many zones are kept.
    var entryCount: Int { cache.withLock { $0.entries.count } }

    private func known(_ name: String, _ stamp: ZoneStamp) -> ZoneRules? {
        cache.withLock { cache in
            guard cache.entries[name]?.stamp == stamp else { return nil }
            cache.uses += 1
            cache.entries[name]?.lastUse = cache.uses
            return cache.entries[name]?.rules
        }
    }

    private func keep(_ rules: ZoneRules, _ stamp: ZoneStamp) {
        cache.withLock { cache in
            cache.uses += 1
            cache.entries[rules.name] = Entry(stamp: stamp, rules: rules, lastUse: cache.uses)
            guard cache.entries.count > Self.maxEntries,
                let oldest = cache.entries.min(by: { $0.value.lastUse < $1.value.lastUse })
            else { return }
            cache.entries[oldest.key] = nil
        }
    }
}

extension ZoneRules {
    /// Offsets are kept in whole minutes, rounded down; since 1972 no zone has had others.
    init(_ zone: SystemZone) {
        func minutes(_ seconds: Int) -> Int { Int(floorDivide(Int64(seconds), 60).quotient) }
        self.init(
            name: zone.name, initialOffsetMinutes: minutes(zone.initialOffsetSeconds),
            transitions: zone.changes.map {
                Transition(at: $0.at * 1000, offsetMinutes: minutes($0.offsetSeconds))
            })
    }
}
