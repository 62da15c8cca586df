import DBus
import GatewayModel
import Locking

/// Puts the signals of band objects together to whole states.
final class BandFollower: Sendable {
    private let known = Guarded<[String: BusProperties]>([:])

    /// The state after a signal; nil when it says nothing of a band.
    func take(_ signal: BusSignal) -> BandStatus? {
        switch signal.member {
        case "InterfacesAdded":
            guard let path = signal.arguments.first?.text,
                let band = signal.arguments.last?.entries?.first(where: {
                    $0.key.text == GatewayBusNames.bandInterface
                })
            else { return nil }
            return learn(path, band.value.properties ?? [:])
        case "InterfacesRemoved":
            guard let path = signal.arguments.first?.text else { return nil }
            known.withLock { $0[path] = nil }
            return nil
        case "PropertiesChanged":
            guard signal.arguments.count == 3, signal.arguments[0].text == GatewayBusNames.bandInterface
            else {
                return nil
            }
            return known.withLock { known in
                // Before the first whole state there is nothing to add to.
                guard var properties = known[signal.path] else { return nil }
                properties.merge(signal.arguments[1].properties ?? [:]) { $1 }
                for name in signal.arguments[2].strings ?? [] { properties[name] = nil }
                known[signal.path] = properties
                return BandStatus(properties)
            }
        default: return nil
        }
    }

    func learn(_ path: String, _ properties: BusProperties) -> BandStatus? {
        known.withLock { $0[path] = properties }
        return BandStatus(properties)
    }
}
