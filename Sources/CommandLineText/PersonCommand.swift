import GatewayModel

/// `bandferry person ...`.
public enum PersonCommand: Equatable, Sendable {
    /// Nil = a new random id.
    case add(name: String, id: PersonID?, sharesName: Bool)
    case list
    case remove(String)
    case setZone(person: String, zone: String, from: TimeArgument)
    case removeZone(person: String, from: TimeArgument)
}
