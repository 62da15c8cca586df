import BandProfile
import HistorySync

/// Adapters that were switched off here and not seen on since. They are switched on again whatever comes between; what is
/// stored of them outlives a kill.
public struct PowerDebts: Equatable, Sendable {
    private struct Debt: Equatable, Sendable {
        /// Tries in a row.
        var failures = 0
        var notBefore: MonotonicTime
    }

    private var debts: [BluetoothAddress: Debt] = [:]

    /// From one try to the next, ms; doubles.
    private static let first: Int64 = 2_000
    private static let most: Int64 = 300_000
    /// Failures after which trying again alone is not enough.
    private static let patience = 3

    public init() {}

    public var isEmpty: Bool { debts.isEmpty }

    public func owes(_ adapter: BluetoothAddress) -> Bool { debts[adapter] != nil }

    public mutating func incur(_ adapter: BluetoothAddress, at now: MonotonicTime) {
        if debts[adapter] == nil { debts[adapter] = Debt(notBefore: now) }
    }

    public mutating func settle(_ adapter: BluetoothAddress) { debts[adapter] = nil }

    /// It could not be switched on.
    ///
    /// - Returns: true when more has to be done than to try again.
    public mutating func failed(_ adapter: BluetoothAddress, at now: MonotonicTime) -> Bool {
        guard var debt = debts[adapter] else { return false }
        debt.notBefore = now + min(Self.most, Self.first << Int64(min(debt.failures, 16)))
        debt.failures += 1
        debts[adapter] = debt
        return debt.failures >= Self.patience
    }

    /// Those to be switched on now, of the ones that are there and off.
    public func due(among off: Set<BluetoothAddress>, at now: MonotonicTime) -> [BluetoothAddress] {
        debts.filter { off.contains($0.key) && $0.value.notBefore <= now }.keys.sorted()
    }

    /// When the next one is to be tried; nil = none waits.
    public func deadline(after now: MonotonicTime) -> MonotonicTime? {
        debts.values.map(\.notBefore).filter { $0 > now }.min()
    }
}
