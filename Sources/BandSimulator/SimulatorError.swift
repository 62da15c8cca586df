/// Why a simulator could not start: what failed, on what, and what to do.
public struct SimulatorError: Error, Sendable, CustomStringConvertible {
    public var description: String

    init(_ description: String) { self.description = description }
}
