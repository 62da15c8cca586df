import BandProfile
import HistorySync

/// Adapters that were switched off here and not seen on since. They are switched on again whatever comes between; what is
/// stored of them outlives a kill.
///
/// That an adapter is on settles nothing while the call that switches it off may still wait at bluetoothd: it goes off when
/// that is carried out. It is certain once it was seen off, or once a call that switches it on was answered: bluetoothd
/// carries out in order, and says Busy while it is at a change.
public struct PowerDebts: Equatable, Sendable {
    private struct Debt: Equatable, Sendable {
        /// Tries in a row.
        var failures = 0
        var notBefore: MonotonicTime
        /// It may yet go off, though it is on. When it may be asked whether it stays on; nil = it is certain.
        var doubtfulUntil: MonotonicTime?
    }

    private var debts: [BluetoothAddress: Debt] = [:]
    private let patience: Int64

    /// From one try to the next, ms; doubles.
    private static let first: Int64 = 2_000
    private static let most: Int64 = 300_000
    /// Failures after which trying again alone is not enough.
    private static let triesAlone = 3

    /// - Parameter patience: milliseconds that bluetoothd is given to switch an adapter off, before it is asked whether one that
    ///   is on stays on
    public init(patience: Int64 = 10_000) { self.patience = max(0, patience) }

    public var isEmpty: Bool { debts.isEmpty }

    public func owes(_ adapter: BluetoothAddress) -> Bool { debts[adapter] != nil }

    /// It is about to be switched off.
    public mutating func incur(_ adapter: BluetoothAddress, at now: MonotonicTime) {
        if debts[adapter] == nil { debts[adapter] = Debt(notBefore: now) }
    }

    /// bluetoothd is, or was, told to switch it off; what became of that is not known.
    public mutating func mayGoOff(_ adapter: BluetoothAddress, at now: MonotonicTime) {
        debts[adapter]?.doubtfulUntil = now + patience
    }

    public mutating func wasSeenOff(_ adapter: BluetoothAddress) { debts[adapter]?.doubtfulUntil = nil }

    /// bluetoothd has answered that it is on, to a call that switches it on.
    public mutating func isCertainlyOn(_ adapter: BluetoothAddress) { debts[adapter]?.doubtfulUntil = nil }

    public mutating func settle(_ adapter: BluetoothAddress) { debts[adapter] = nil }

    /// It could not be switched on.
    ///
    /// - Returns: true when more has to be done than to try again.
    public mutating func failed(_ adapter: BluetoothAddress, at now: MonotonicTime) -> Bool {
        guard var debt = debts[adapter] else { return false }
        debt.notBefore = now + min(Self.most, Self.first << Int64(min(debt.failures, 16)))
        if debt.doubtfulUntil != nil { debt.doubtfulUntil = max(debt.notBefore, now + patience) }
        debt.failures += 1
        debts[adapter] = debt
        return debt.failures >= Self.triesAlone
    }

    /// Those that are owed nothing any more, of the ones that are on.
    public func settled(among on: Set<BluetoothAddress>) -> [BluetoothAddress] {
        debts.filter { on.contains($0.key) && $0.value.doubtfulUntil == nil }.keys.sorted()
    }

    /// Those to be switched on now, of the ones that are there and off, and of those that are on and may yet go off.
    public func due(
        off: Set<BluetoothAddress>, on: Set<BluetoothAddress> = [], at now: MonotonicTime
    ) -> [BluetoothAddress] {
        debts.filter { adapter, debt in
            if off.contains(adapter) { return debt.notBefore <= now }
            return on.contains(adapter) && debt.doubtfulUntil.map { $0 <= now } == true
        }.keys.sorted()
    }

    /// When the next one is to be tried; nil = none waits.
    public func deadline(after now: MonotonicTime) -> MonotonicTime? {
        debts.values.flatMap { [$0.notBefore, $0.doubtfulUntil ?? $0.notBefore] }.filter { $0 > now }.min()
    }
}
