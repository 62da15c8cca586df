import GatewayModel

/// What people ask about persons and bands that change hands. Failures are `CommandFailure`, as of `GatewayCommands`.
///
/// A person is named by id or by local name, a band by address, device id or name: the gateway knows which there are.
public protocol PersonCommands: Sendable {
    /// The id that the person has from now on.
    func addPerson(_ request: AddPersonRequest) async throws -> PersonID
    /// Refused of somebody who wears or wore a band, or whom stored samples name.
    func removePerson(_ person: String) async throws
    /// From `from` on the person is in `zone`, an IANA name, until the next such entry.
    func setZone(_ zone: String, from: Timestamp, of person: String) async throws
    /// Takes back the entry that begins at `from`.
    func removeZone(from: Timestamp, of person: String) async throws
    /// Replaces an assignment of the same band that begins at the same moment.
    func assign(_ request: AssignRequest) async throws
    /// Takes back the assignment that begins at `from`.
    func unassign(_ band: String, from: Timestamp) async throws
}

public struct AddPersonRequest: Equatable, Sendable {
    /// How people here call them.
    public var name: String
    /// Nil = a new random one.
    public var id: PersonID?
    /// The server is told the name.
    public var sharesName: Bool

    public init(name: String, id: PersonID? = nil, sharesName: Bool = false) {
        self.name = name
        self.id = id
        self.sharesName = sharesName
    }
}

public struct AssignRequest: Equatable, Sendable {
    public var band: String
    public var person: String
    public var from: Timestamp
    /// Nil = until further notice.
    public var to: Timestamp?

    public init(band: String, person: String, from: Timestamp, to: Timestamp? = nil) {
        self.band = band
        self.person = person
        self.from = from
        self.to = to
    }
}
