import Foundation
import GatewayModel
import Store
import Testing

/// Many simulated lives of a band and its gateway: once the host's clock is trusted, each sample is near the truth, or says
/// how far off it may be.
///
/// `BANDFERRY_TIME_SEEDS` sets how many; `make time-simulation` runs 1,000.
@Suite struct TimeSimulationTests {
    @Test func everySampleIsNearTheTruthOrSaysHowFarOffItMayBe() async throws {
        let environment = ProcessInfo.processInfo.environment
        let count = environment["BANDFERRY_TIME_SEEDS"].flatMap { UInt64($0) } ?? 100
        let first = environment["BANDFERRY_TIME_SEED"].flatMap { UInt64($0) } ?? 1
        var report = ErrorReport()
        for seed in first..<first + count {
            let directory = try Self.makeDirectory()
            defer { try? FileManager.default.removeItem(atPath: directory) }
            var life = try await SimulatedLife(seed: seed, directory: directory)
            try await life.run()
            for (truth, sample) in try life.outcomes() {
                let sample = try #require(sample, "seed \(seed): seq \(truth.record.seq) is not stored")
                if let fault = report.take(sample, truth: truth.trueMilliseconds) {
                    Issue.record("seed \(seed): seq \(sample.seq): \(fault)")
                }
            }
        }
        #expect(report.near > 0 && report.flagged > 0)
        print(report.text)
    }

    /// In memory where there is room: what is shown here does not rest on the medium.
    private static func makeDirectory() throws -> String {
        let base =
            FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        let path = base + "/time-simulation-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
        return path
    }
}

/// How far published times are from the truth.
struct ErrorReport {
    /// ms from the truth within which a sample needs no flag.
    private static let near: Int64 = 2_000

    private var errors: [Int64] = []
    private var bounds: [Int64] = []
    private var uncertain = 0
    private var corrected = 0

    /// Within two seconds of the truth, by what was published.
    var near: Int { errors.count { $0 <= Self.near } }
    /// Further off; each said so.
    var flagged: Int { errors.count - near }

    /// What is wrong with it; nil = nothing.
    mutating func take(_ sample: Sample, truth: Int64) -> String? {
        let error = abs(sample.recordedAt.milliseconds - truth)
        errors.append(error)
        if sample.timeUncertain { uncertain += 1 }
        if sample.version > 1 { corrected += 1 }
        guard let bound = sample.timeBoundMilliseconds.map(Int64.init) else {
            return error <= Self.near ? nil : "\(error) ms off, without a bound"
        }
        bounds.append(bound)
        return error <= bound ? nil : "\(error) ms off, with a bound of \(bound) ms"
    }

    var text: String {
        func line(_ name: String, _ values: [Int64]) -> String {
            let sorted = values.sorted()
            func at(_ part: Double) -> Int64 {
                sorted.isEmpty ? 0 : sorted[min(sorted.count - 1, Int(Double(sorted.count) * part))]
            }
            return "\(name) ms: median \(at(0.5)), 90 % \(at(0.9)), 99 % \(at(0.99)), 99.9 % \(at(0.999)), "
                + "most \(sorted.last ?? 0)"
        }
        return """
            times of \(errors.count) samples: \(near) within 2 s of the truth, \(flagged) further off and flagged, \
            \(uncertain) uncertain, \(corrected) corrected
            \(line("error", errors))
            \(line("bound", bounds))
            """
    }
}
