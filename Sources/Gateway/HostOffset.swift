import GatewayModel
import ZoneDatabase

extension ZoneDatabase {
    /// Minutes that this host's local time is ahead of UTC; 0 where the system does not know its zone.
    func hostOffset(at time: Timestamp) -> Int {
        rules(named: hostZoneName())?.offsetMinutes(at: time.milliseconds) ?? 0
    }
}
