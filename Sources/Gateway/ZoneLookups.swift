import GatewayModel
import Timekeeping
import ZoneDatabase

extension ZoneDatabase {
    /// For the store: a zone's offset at a time, minutes.
    var lookup: ZoneLookup {
        { zone, time in self.rules(named: zone)?.offsetMinutes(at: time.milliseconds) }
    }
}
