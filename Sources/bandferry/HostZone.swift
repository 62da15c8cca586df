import CivilTime
import CommandLineText
import GatewayModel
import ZoneDatabase

extension LocalTimes {
    /// As the clocks where this host stands show them; UTC when its zone is not known.
    static func ofThisHost(now: Timestamp) -> LocalTimes {
        let zones = ZoneDatabase()
        let rules = zones.rules(named: zones.hostZoneName()) ?? .utc
        return LocalTimes(zone: rules.name, now: now) { rules.offsetMinutes(at: $0.milliseconds) }
    }
}
