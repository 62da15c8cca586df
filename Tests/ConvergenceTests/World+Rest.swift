import BandModel
import BandProfile
import GatewayModel
import Store
import Testing
import Timekeeping

extension World {
    // MARK: the end

    /// Every record was read, every clock is right, the network is good: until nothing changes any more.
    mutating func comeToRest() async throws {
        note("rest")
        var random = random
        for gateway in gateways {
            try await gateway.change { $0.become(.synchronised, random: &random) }
        }
        self.random = random
        for gateway in gateways { try await sync(gateway, share: 100) }
        var last: [[RowKey: Row]] = []
        var quiet = 0
        for _ in 0..<20 where quiet < 2 {
            for gateway in gateways {
                try await gateway.store.countHold(milliseconds: Self.day)
                let isResting = try await gateway.upload(steps: 3_000, passing: .seconds(14 * 3600))
                #expect(isResting, "seed \(seed): the upload of \(gateway.name) finds no end")
            }
            let now = try await sides()
            quiet = now == last ? quiet + 1 : 0
            last = now
        }
        #expect(quiet == 2, "seed \(seed): the gateways go on changing samples")
    }

    func sides() async throws -> [[RowKey: Row]] {
        var sides = [try await server.rows(of: SimulatedGateway.device.text)]
        for gateway in gateways { sides.append(try gateway.rows()) }
        return sides
    }

    /// What is wrong, at most a few lines.
    func differences() async throws -> [String] {
        let sides = try await sides()
        var faults: [String] = []
        var truth: [RowKey: Int64] = [:]
        band.forEachRecorded { recorded in
            let type = SampleType(rawValue: recorded.record.type)?.name ?? "?"
            truth[RowKey(ring: recorded.ring.description, type: type, seq: recorded.record.seq)] =
                recorded.trueMilliseconds
        }
        for key in truth.keys.sorted() where faults.count < 6 {
            let rows = sides.map { $0[key] }
            if rows.contains(where: { $0 != rows[0] }) || rows[0] == nil {
                faults.append(
                    "\(key): server \(describe(rows[0])); A \(describe(rows[1])); B \(describe(rows[2]))")
            } else if let row = rows[0], let bound = row.bound, let moment = truth[key],
                abs(row.recordedAt - moment) > bound
            {
                faults.append("\(key): \(row) is \(row.recordedAt - moment) ms off")
            }
        }
        for side in sides where side.count != truth.count {
            faults.append("\(side.count) of \(truth.count) samples")
        }
        for gateway in gateways where try gateway.pending() > 0 {
            faults.append("\(gateway.name) has something to send")
        }
        return faults
    }

    /// What somebody knew and said is in none of the tables.
    func losses() async throws -> [String] {
        var faults: [String] = []
        var verdicts: [UInt32: [SimulatedGateway.Opinion]] = [:]
        for gateway in gateways {
            for opinion in try await gateway.opinions() {
                verdicts[opinion.seq, default: []].append(opinion)
                let better = Revision.decide(
                    published: opinion.published, fresh: opinion.fresh, bandOffset: nil,
                    isClockBroken: opinion.isClockBroken,
                    derivation: Derivation(
                        wearers: WearerHistory([]),
                        offsets: OffsetChoice(persons: [:], host: []) { _, _ in nil }))
                // A time that is a little better waits for the next reason to derive the sample again.
                let isMuch =
                    opinion.published.isUncertain
                    || (opinion.fresh.bound ?? .max) < (opinion.published.bound ?? .max) / 2
                if let better, better.recordedAt != opinion.published.recordedAt, isMuch {
                    faults.append(
                        "seq \(opinion.seq): \(gateway.name) knows a better time: \(opinion.fresh), not \(opinion.published)"
                    )
                }
            }
        }
        // Who was named by a gateway that lost its memory of it stands, as the last who was named.
        if isRestored { return Array(faults.prefix(6)) }
        for (seq, both) in verdicts.sorted(by: { $0.key < $1.key }) {
            guard let first = both.first,
                !both.contains(where: { $0.wasWithdrawn || $0.verdict == .undecided })
            else {
                continue
            }
            let said = Set(both.map(\.verdict)).filter { if case .person = $0 { true } else { false } }
            guard let person = said.first, said.count == 1, first.published.wearer != person else { continue }
            faults.append(
                "seq \(seq): \(person) was said, not \(both.map { "\($0.published.wearer) at \($0.published.recordedAt) +- \($0.published.bound ?? -1), here \($0.verdict)" })"
            )
        }
        return Array(faults.prefix(6))
    }

    private func describe(_ row: Row?) -> String { row.map { "\($0)" } ?? "none" }
}
