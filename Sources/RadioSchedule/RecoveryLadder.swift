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
}

/// Decides what is done about one adapter.
///
/// Only data that comes clears its strikes: a remedy does not, nor a link or a discovery that starts, or the same mild
/// remedy would be taken for ever.
public struct RecoveryLadder: Equatable, Sendable {
    public private(set) var strikes = 0
    public private(set) var taken: [Remedy: Int] = [:]
    /// Since data last came.
    public private(set) var takenInARow: [Remedy: Int] = [:]
    private var notBefore: [Remedy: MonotonicTime] = [:]

    public init() {}

    /// Nothing has helped so far that was done here.
    public var isLost: Bool { (takenInARow[.powerCycle] ?? 0) + (takenInARow[.restartService] ?? 0) >= 2 }

    public mutating func worked() {
        strikes = 0
        takenInARow = [:]
        notBefore = [:]
    }

    /// - Parameters:
    ///   - mayRestart: the configuration allows to restart bluetooth.service.
    ///   - othersUseIt: links of other programs go over this adapter.
    /// - Returns: what to do now; nil = wait and see.
    public mutating func noticed(
        _ symptom: RadioSymptom, at now: MonotonicTime, mayRestart: Bool, othersUseIt: Bool
    ) -> Remedy? {
        strikes = min(strikes + symptom.weight, 1_000_000)
        let reached = Remedy.allCases.filter { remedy in
            strikes >= remedy.threshold && symptom.isHelped(by: remedy)
                && (remedy != .restartService || mayRestart)
                // Nobody is there to switch it off and on; where only that is left it is tried all the same.
                && (remedy != .powerCycle || symptom != .noAnswer || !mayRestart)
                // Others' links are not ours to end, unless bluetoothd answers nobody.
                && (remedy < .powerCycle || !othersUseIt || symptom == .noAnswer || symptom == .serviceSilent)
                && (notBefore[remedy].map { $0 <= now } ?? true)
        }
        guard let remedy = reached.max() else { return nil }
        taken[remedy, default: 0] += 1
        let times = takenInARow[remedy, default: 0]
        takenInARow[remedy] = times + 1
        if let (first, most) = remedy.spacing {
            notBefore[remedy] = now + min(most, first << Int64(min(times, 16)))
        }
        return remedy
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
        case .noAnswer, .silence, .serviceSilent: 8
        }
    }

    func isHelped(by remedy: Remedy) -> Bool {
        switch remedy {
        case .dropLink: self == .stuckLink || self == .connectFailed || self == .noAnswer
        case .stopDiscovery: self == .discoveryStuck || self == .noAnswer
        case .powerCycle: self != .serviceSilent
        // An empty house is silent too: that restarts nothing.
        case .restartService: self != .silence
        }
    }
}
