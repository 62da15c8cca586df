import GatewayModel
import Testing
import Timekeeping

/// Whose statement about a sample is current at the server.
@Suite struct StandingTests {
    private func standing(_ version: Int64, _ bound: Int64?, uncertain: Bool = false) -> Standing {
        Standing(version: version, fields: DerivedFields(recordedAt: 0, bound: bound, isUncertain: uncertain))
    }

    @Test func theHigherVersionThenTheSmallerBound() {
        let rising = [
            standing(1, 5, uncertain: true), standing(1, nil), standing(1, 900), standing(1, 20),
            standing(1, 0),
            standing(2, nil, uncertain: true), standing(2, 300), standing(3, 300),
        ]
        for (index, low) in rising.enumerated() {
            for high in rising[(index + 1)...] { #expect(low < high && !(high < low)) }
        }
        #expect(standing(1, 5, uncertain: true) == standing(1, nil, uncertain: true), "a guess is a guess")
    }
}
