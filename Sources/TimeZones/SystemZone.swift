import CGLib

/// A zone of the system's database.
public struct SystemZone: Equatable, Sendable {
    public var name: String
}
