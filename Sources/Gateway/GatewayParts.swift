import BlueZ
import GatewayModel
import HistorySync
import Store
import Systemd

/// What the keepers of all bands share. Each part has one owner: itself.
struct GatewayParts: Sendable {
    var blueZ: BlueZClient
    var radio: Radio
    var store: Store
    var ownership: Ownership
    var resolver: QuestionResolver
    var clock: HostClock
    var hostWatch: HostClockWatch
    var log: Log
    var meter: GatewayMeter
    /// Something that `status` shows has changed.
    var changed: @Sendable () -> Void
    /// There is something new to upload.
    var uploadWake: @Sendable () -> Void

    /// Names a connection, so that "over at least 2 connections" holds across restarts of the daemon too.
    var newConnectionID: @Sendable () -> Int64 = { Int64.random(in: 1...Int64.max) }
}
