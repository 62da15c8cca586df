/// One switch of rfkill for Bluetooth.
public struct RadioSwitch: Equatable, Sendable {
    /// `hci0`: for people only.
    public var name: String
    /// `rfkill unblock` lifts it.
    public var isSoftBlocked: Bool
    /// A switch, a key or the firmware does.
    public var isHardBlocked: Bool

    public init(name: String, isSoftBlocked: Bool, isHardBlocked: Bool) {
        self.name = name
        self.isSoftBlocked = isSoftBlocked
        self.isHardBlocked = isHardBlocked
    }

    public var isBlocked: Bool { isSoftBlocked || isHardBlocked }
}
