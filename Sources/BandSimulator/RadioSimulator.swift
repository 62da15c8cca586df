/// placeholder until the radio is written
public actor RadioSimulator {
    public static func start(_ options: RadioOptions) async throws -> RadioSimulator {
        throw SimulatorError("radio mode is not built yet")
    }
    public func stop() async {}
}
