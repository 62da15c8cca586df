import BandProfile
import HistorySync

/// Where one band stands in the queue for the radio.
struct BandTurn: Equatable, Sendable {
    enum Phase: Equatable, Sendable {
        case idle
        /// An attempt is under way.
        case connecting(BluetoothAddress)
        case linked(BluetoothAddress)

        var adapter: BluetoothAddress? {
            switch self {
            case .idle: nil
            case .connecting(let adapter), .linked(let adapter): adapter
            }
        }
    }

    struct Sighting: Equatable, Sendable {
        var rssi: Int
        var at: MonotonicTime
    }

    var phase = Phase.idle
    /// When it wants to be synced.
    var dueAt: MonotonicTime
    /// Its pause after a failure.
    var notBefore: MonotonicTime
    var pause: BandPause
    /// It is left alone until then, whatever is heard of it; only whoever asks for it is served.
    var restUntil: MonotonicTime
    /// It is looked for while it rests, to find out whether it is away.
    var isLookedForAtRest = false
    /// Its place in the queue: who has waited longest is first. A failure puts it behind all who wait then.
    var waitsSince: MonotonicTime
    /// Since when somebody waits for it; nil = nobody does.
    var askedAt: MonotonicTime?
    /// It has become due while it was connected.
    var isDueAgain = false
    /// It is not kept any more, and still has a link.
    var isLeaving = false
    /// The last failure is one that a person has to mend.
    var needsHelp = false

    /// The last advertisement on each adapter.
    var sightings: [BluetoothAddress: Sighting] = [:]
    /// Attempts in a row before which BlueZ had forgotten it.
    var forgotten = 0
    /// Where the last attempt failed.
    var failedOn: BluetoothAddress?

    /// Looks in a row that ended without it.
    var missed = 0
    var absentSince: MonotonicTime?
    var nextLook: MonotonicTime
    /// How long it has been listened for already, ms, in looks that a connection cut short.
    var listened: Int64 = 0
    /// It wants to be looked for and was not yet.
    var lookOwedSince: MonotonicTime?

    init(now: MonotonicTime, pause: BandPause, left: Int64, rest: Int64) {
        dueAt = now
        self.pause = pause
        notBefore = now + max(0, left)
        restUntil = now + max(0, rest)
        waitsSince = now
        nextLook = now
    }

    /// When it wants a turn by itself.
    var wantsTurnAt: MonotonicTime { max(dueAt, notBefore, restUntil) }

    var isAsked: Bool { askedAt != nil }

    func isDue(at now: MonotonicTime) -> Bool { isAsked || wantsTurnAt <= now }

    /// It rests, and nobody waits for it.
    func isAtRest(at now: MonotonicTime) -> Bool { restUntil > now && !isAsked }

    mutating func heard(_ sighting: RadioView.Sighting) {
        guard sighting.at > (sightings[sighting.adapter]?.at ?? MonotonicTime(milliseconds: .min)) else {
            return
        }
        sightings[sighting.adapter] = Sighting(rssi: sighting.rssi, at: sighting.at)
        lookOwedSince = nil
        listened = 0
        guard missed > 0 else { return }
        // It has come home: its pause was for a band that could not be reached.
        missed = 0
        absentSince = nil
        if !needsHelp { notBefore = min(notBefore, sighting.at) }
    }

    mutating func wasMissed(at now: MonotonicTime, _ settings: RadioSettings) {
        missed += 1
        let since = absentSince ?? now
        absentSince = since
        lookOwedSince = nil
        listened = 0
        askedAt = nil
        let isLong = now.milliseconds - since.milliseconds >= settings.longAbsence
        nextLook = now + (isLong ? settings.longLookEvery : settings.lookEvery)
    }

    func wasHeard(since time: MonotonicTime) -> Bool { sightings.values.contains { $0.at >= time } }
}
