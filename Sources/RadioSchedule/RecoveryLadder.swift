import BandProfile
import HistorySync

/// What is done about a Bluetooth that misbehaves, from the mildest up.
public enum Remedy: String, CaseIterable, Comparable, Hashable, Sendable {
    /// End a link over which nothing comes.
    case dropLink = "drop_link"
    case stopDiscovery = "stop_discovery"
    case powerCycle = "power_cycle"
    /// bluetooth.service, by systemd.
    case restartService = "restart_service"

    public static func < (left: Remedy, right: Remedy) -> Bool { left.order < right.order }

    private var order: Int {
        switch self {
        case .dropLink: 0
        case .stopDiscovery: 1
        case .powerCycle: 2
        case .restartService: 3
        }
    }
}

/// A sign that an adapter or its bluetoothd does not work.
public enum RadioSymptom: String, CaseIterable, Hashable, Sendable {
    /// bluetoothd leaves a call unanswered that costs it nothing.
    case noAnswer = "no_answer"
    /// bluetoothd does not even list its objects.
    case serviceSilent = "service_silent"
    /// A link is shown, nothing answers over it, and it does not go away.
    case stuckLink = "stuck_link"
    /// Discovery can't be started, or is said to run and does not.
    case discoveryStuck = "discovery_stuck"
    /// The kernel or the controller refuses.
    case adapterFault = "adapter_fault"
    /// A band that was heard just now could not be connected to. Mostly the air; not when it goes on and on.
    case connectFailed = "connect_failed"
    /// Nothing is heard any more.
    case silence
    /// It was switched off here, and can't be switched on again.
    case staysOff = "stays_off"
}

/// Who has a link, and would lose it by a strong remedy.
public struct RadioUse: Equatable, Sendable {
    /// Bands that are read over the adapter, and over any adapter: a restart of bluetoothd ends them all.
    public var byBands: Bool
    public var byBandsAnywhere: Bool
    /// Other programs, likewise.
    public var byOthers: Bool
    public var byOthersAnywhere: Bool
    /// A link over the adapter that nobody here uses.
    public var hasUnusedLinks: Bool

    public init(
        byBands: Bool = false, byBandsAnywhere: Bool = false, byOthers: Bool = false,
        byOthersAnywhere: Bool = false, hasUnusedLinks: Bool = false
    ) {
        self.byBands = byBands
        self.byBandsAnywhere = byBandsAnywhere || byBands
        self.byOthers = byOthers
        self.byOthersAnywhere = byOthersAnywhere || byOthers
        self.hasUnusedLinks = hasUnusedLinks
    }
}

/// Decides what is done about one adapter.
///
/// Only data that comes clears its strikes: a remedy does not, nor a link or a discovery that starts, or the same mild
/// remedy would be taken for ever. Two symptoms say less than the others: one band that can't be connected to is weak or far
/// away, and a house in which nobody is heard is mostly empty.
public struct RecoveryLadder: Equatable, Sendable {
    public private(set) var strikes = 0
    /// Remedies by which something was done.
    public private(set) var taken: [Remedy: Int] = [:]
    /// Since data last came.
    public private(set) var takenInARow: [Remedy: Int] = [:]
    /// Tries since data last came, in vain or not: what comes of them lets the next one wait longer.
    private var tries: [Remedy: Int] = [:]
    private var notBefore: [Remedy: MonotonicTime] = [:]
    private var workedAt: MonotonicTime?
    /// Bands that gave data within the last sync interval, and when.
    private var workedWith: [BluetoothAddress: MonotonicTime] = [:]
    /// Bands that could not be connected to since data last came, and when.
    private var unreached: [BluetoothAddress: MonotonicTime] = [:]
    /// When a remedy was tried because nothing was heard, and nothing was heard since.
    private var silenceTriedAt: MonotonicTime?
    private var staysOff = false
    private let syncInterval: Int64

    /// - Parameter syncInterval: milliseconds; while a band worked within it, bands that fail are at fault themselves
    public init(syncInterval: Int64) { self.syncInterval = max(1, syncInterval) }

    /// Nothing has helped so far that was done here.
    public var isLost: Bool {
        staysOff || (takenInARow[.powerCycle] ?? 0) + (takenInARow[.restartService] ?? 0) >= 2
    }

    /// Data came. The distance to the last strong remedy stays: an adapter that works for a moment after each is not
    /// switched off again at once.
    public mutating func worked(with band: BluetoothAddress? = nil, at now: MonotonicTime) {
        strikes = 0
        takenInARow = [:]
        tries = [:]
        unreached = [:]
        silenceTriedAt = nil
        staysOff = false
        workedAt = now
        workedWith = workedWith.filter { now < $0.value + syncInterval }
        if let band { workedWith[band] = now }
    }

    /// An advertisement came.
    public mutating func heard(at time: MonotonicTime) {
        if let tried = silenceTriedAt, tried < time { silenceTriedAt = nil }
    }

    /// It is on.
    public mutating func isOn() { staysOff = false }

    /// - Parameters:
    ///   - band: with which it was noticed, if it was one; for a fault of the adapter, to which it could not be connected
    ///   - mayRestart: the configuration allows to restart bluetooth.service.
    /// - Returns: what to do now, and `tried` is to be called after it; nil = wait and see.
    public mutating func noticed(
        _ symptom: RadioSymptom, with band: BluetoothAddress? = nil, at now: MonotonicTime, mayRestart: Bool,
        use: RadioUse
    ) -> Remedy? {
        switch symptom {
        case .silence:
            // No strike: the next real trouble does not begin higher up because nobody was at home.
            guard silenceTriedAt == nil else { return nil }
        case .connectFailed:
            guard isOfSeveralBands(band, at: now) else { return weak(symptom, use) }
            strikes = min(strikes + symptom.weight, Self.most)
        // Whatever BlueZ calls it: the adapter connects to others.
        case .adapterFault where anotherWorks(than: band, at: now): return weak(symptom, use)
        case .staysOff:
            staysOff = true
            strikes = min(strikes + symptom.weight, Self.most)
        default: strikes = min(strikes + symptom.weight, Self.most)
        }
        return Remedy.allCases.filter { remedy in
            (strikes >= remedy.threshold || symptom == .silence) && symptom.isHelped(by: remedy)
                && isAllowed(remedy, for: symptom, at: now, mayRestart: mayRestart, use: use)
        }.max()
    }

    private func isAllowed(
        _ remedy: Remedy, for symptom: RadioSymptom, at now: MonotonicTime, mayRestart: Bool, use: RadioUse
    ) -> Bool {
        if let time = notBefore[remedy], now < time { return false }
        if use.isCut(by: remedy), !symptom.concernsAll { return false }
        switch remedy {
        case .dropLink: return use.hasUnusedLinks
        case .stopDiscovery: return true
        // Nobody is there to switch it off and on; where only that is left it is tried all the same.
        case .powerCycle: return symptom != .noAnswer || !mayRestart
        case .restartService: return mayRestart
        }
    }

    /// What `noticed` said was tried.
    ///
    /// - Parameter didSomething: false = it was refused, or there was nothing to do it to.
    public mutating func tried(
        _ remedy: Remedy, for symptom: RadioSymptom, at now: MonotonicTime, didSomething: Bool
    ) {
        let times = tries[remedy, default: 0]
        tries[remedy] = times + 1
        if let (first, most) = remedy.spacing {
            notBefore[remedy] = now + min(most, first << Int64(min(times, 16)))
        }
        if symptom == .silence { silenceTriedAt = now }
        guard didSomething else { return }
        taken[remedy, default: 0] += 1
        // An empty house can't be told from a deaf adapter, so nothing is lost by it.
        if symptom != .silence { takenInARow[remedy, default: 0] += 1 }
    }

    /// Bands fail, and none works: then it may be the radio. One that fails alone says nothing.
    private mutating func isOfSeveralBands(_ band: BluetoothAddress?, at now: MonotonicTime) -> Bool {
        // A pause after a failure is longer than the interval may be.
        let memory = max(2 * syncInterval, 600_000)
        unreached = unreached.filter { now < $0.value + memory }
        if let band { unreached[band] = now }
        let works = workedAt.map { now < $0 + syncInterval } ?? false
        return unreached.count > 1 && !works
    }

    private func anotherWorks(than band: BluetoothAddress?, at now: MonotonicTime) -> Bool {
        guard let band else { return false }
        return workedWith.contains { $0.key != band && now < $0.value + syncInterval }
    }

    /// What says little of the radio brings nothing nearer than the mildest remedy.
    private mutating func weak(_ symptom: RadioSymptom, _ use: RadioUse) -> Remedy? {
        let enough = Remedy.dropLink.threshold
        strikes = min(strikes + symptom.weight, max(strikes, enough))
        return strikes >= enough && use.hasUnusedLinks && symptom.isHelped(by: .dropLink) ? .dropLink : nil
    }

    private static let most = 1_000_000
}

extension RadioUse {
    /// Links that are not to be ended for the trouble of others.
    func isCut(by remedy: Remedy) -> Bool {
        switch remedy {
        case .dropLink, .stopDiscovery: false
        case .powerCycle: byBands || byOthers
        case .restartService: byBandsAnywhere || byOthersAnywhere
        }
    }
}

extension Remedy {
    var threshold: Int {
        switch self {
        case .dropLink: 3
        case .stopDiscovery: 4
        case .powerCycle: 8
        case .restartService: 16
        }
    }

    /// From one to the next, ms; doubles.
    var spacing: (first: Int64, most: Int64)? {
        switch self {
        case .dropLink, .stopDiscovery: nil
        case .powerCycle: (300_000, 6 * 3_600_000)
        case .restartService: (1_800_000, 12 * 3_600_000)
        }
    }
}

extension RadioSymptom {
    var weight: Int {
        switch self {
        case .stuckLink, .discoveryStuck, .adapterFault: 4
        case .connectFailed: 1
        case .noAnswer, .serviceSilent: 8
        case .staysOff: 16
        case .silence: 0
        }
    }

    /// bluetoothd answers nobody: whoever has a link has little of it.
    public var concernsAll: Bool { self == .noAnswer || self == .serviceSilent }

    func isHelped(by remedy: Remedy) -> Bool {
        switch remedy {
        case .dropLink: self == .stuckLink || self == .connectFailed || self == .noAnswer
        case .stopDiscovery: self == .discoveryStuck || self == .noAnswer
        case .powerCycle: self != .serviceSilent && self != .staysOff
        // An empty house is silent too: that restarts nothing.
        case .restartService: self != .silence
        }
    }
}
