import Foundation
import Testing

/// Two gateways on one band, with different clocks, persons and zones, over a network that loses and doubles, with crashes
/// of all sides: once all is quiet, both gateways and the server have the same samples, field by field.
///
/// `BANDFERRY_CONVERGENCE_SEEDS` sets how many lives, `BANDFERRY_CONVERGENCE_SEED` the first; `make convergence SEEDS=1000`.
@Suite struct ConvergenceTests {
    @Test func bothGatewaysAndTheServerEndWithTheSameSamples() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["BANDFERRY_CONVERGENCE_SEEDS"].flatMap { UInt64($0) } ?? 10
        let first = environment["BANDFERRY_CONVERGENCE_SEED"].flatMap { UInt64($0) } ?? 1
        let steps = environment["BANDFERRY_CONVERGENCE_STEPS"].flatMap { Int($0) } ?? 60
        for seed in first..<first + count {
            var world = try await World(seed: seed)
            for _ in 0..<steps { try await world.step() }
            try await world.comeToRest()
            let faults = try await world.differences() + world.losses()
            await world.server.close()
            guard !faults.isEmpty else { continue }
            Issue.record("seed \(seed):\n\(faults.joined(separator: "\n"))")
            if environment["BANDFERRY_CONVERGENCE_STORY"] != nil {
                print(world.story.joined(separator: "\n"))
            }
        }
    }
}
