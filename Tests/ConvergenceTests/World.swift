import BandModel
import BandProfile
import GatewayModel
import Store
import Testing
import Timekeeping

/// One band, two gateways that both read it, and the server where they meet.
struct World {
    static let minute: Int64 = 60_000
    static let hour = 60 * minute
    static let day = 24 * hour
    static let interval = 5 * minute

    let seed: UInt64
    var random: SeededRandom
    let time: TrueTime
    var band: SimulatedBand
    var boots = 0
    /// Some gateway goes on with an older database.
    var isRestored = false
    let server: SimulatedServer
    let gateways: [SimulatedGateway]
    /// What happened, for a failure to tell.
    var story: [String] = []

    static let persons = ["p_anna", "p\"b,e n\\"].compactMap { PersonID($0.replacing(" ", with: "")) }

    init(seed: UInt64) async throws {
        self.seed = seed
        random = SeededRandom(seed: seed)
        time = TrueTime(1_796_000_100_000 / Self.interval * Self.interval)
        var options = SimulatedBandOptions(seed: seed, records: 10)
        options.recordIntervalMilliseconds = Self.interval
        options.driftPPM = Double.random(in: -60...60, using: &random)
        options.clockOffsetMilliseconds = random.pick([0, 7 * Self.hour, -20 * 365 * Self.day])
        options.offsetQuarterHours = random.chance(30) ? 22 : nil
        band = SimulatedBand(options, now: time.now)
        server = try await SimulatedServer()
        var gateways: [SimulatedGateway] = []
        for name in ["A", "B"] {
            let trust: HostTrust = random.pick([.implausible, .plausible, .synchronised, .synchronised])
            let host = SimulatedHost(boot: 0, name: name, at: time.now, trust: trust, random: &random)
            let gateway = try await SimulatedGateway(
                name: name, time: time, server: server, random: SeededRandom(seed: random.next()), host: host)
            gateways.append(gateway)
        }
        self.gateways = gateways
        for gateway in gateways {
            for person in Self.persons where random.chance(80) {
                _ = try await gateway.store.addPerson(
                    Person(id: person, name: person.text, sharesName: random.chance(50)))
            }
            try await gateway.change { _ in }
            try gateway.backUp()
        }
    }
}
