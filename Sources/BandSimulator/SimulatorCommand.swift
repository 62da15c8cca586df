import BandModel
import BandProfile
import DBus

/// What `bandsim` was asked to do.
public enum SimulatorCommand: Sendable {
    /// `alsoOn`: further hosts that hear the same bands.
    case bus(BusSimulatorOptions, alsoOn: [BusAddress])
    case radio(RadioOptions)
    /// Print what the bands of a state directory have ever measured.
    case truth(stateDirectory: String)
    case help

    /// Reads the arguments after the program's name; every problem names the option.
    public init(_ arguments: [String]) throws(SimulatorError) {
        var rest = arguments[...]
        // Whatever else is asked: who asks for help gets it.
        if arguments.contains("--help") || arguments.contains("-h") { rest = ["help"] }
        switch rest.popFirst() {
        case "bus":
            var parser = try OptionParser(rest)
            let others = parser.texts("also-on").map(BusAddress.address)
            self = .bus(try Self.bus(&parser), alsoOn: others)
            try parser.end()
        case "radio":
            var parser = try OptionParser(rest)
            self = .radio(try Self.radio(&parser))
            try parser.end()
        case "truth":
            var parser = try OptionParser(rest)
            guard let directory = parser.text("state") else {
                throw SimulatorError("--state DIRECTORY is missing")
            }
            self = .truth(stateDirectory: directory)
            try parser.end()
        case "help", "--help", "-h": self = .help
        case nil: throw SimulatorError("say what to simulate: bandsim bus, bandsim radio; see bandsim --help")
        case let other?:
            throw SimulatorError("\"\(other)\" is no command: use bus, radio or truth; see bandsim --help")
        }
    }

    private static func bus(_ parser: inout OptionParser) throws(SimulatorError) -> BusSimulatorOptions {
        let address = try busAddress(&parser)
        let band = try bandOptions(&parser)
        let first = try firstAddress(&parser)
        var bands = BandSetup.many(try parser.number("bands", in: 1...64) ?? 1, from: first, band)
        for text in parser.texts("faults-for") {
            guard let mark = text.firstIndex(of: "="), let address = BluetoothAddress(text[..<mark]),
                let place = bands.firstIndex(where: { $0.address == address })
            else {
                throw SimulatorError("--faults-for \(text): write ADDRESS=SCRIPT with a simulated address")
            }
            bands[place].options.faults = try script(String(text[text.index(after: mark)...]))
        }
        var options = BusSimulatorOptions(address: address, bands: bands)
        options.stateDirectory = parser.text("state")
        options.ackLog = parser.text("ack-log")
        options.truthFile = parser.text("truth")
        if let text = parser.text("bluez-version") {
            guard let version = BlueZVersion(rawValue: text) else {
                let known = BlueZVersion.allCases.map(\.rawValue).joined(separator: " or ")
                throw SimulatorError("--bluez-version \(text): only \(known) can be simulated")
            }
            options.version = version
        }
        options.mtu = try parser.number("mtu", in: 23...517) ?? 247
        options.rate = try parser.number("rate", in: 0...1_000_000) ?? 0
        options.acquireNotify = !parser.flag("no-acquire-notify")
        options.pairing = parser.flag("require-pairing") ? .justWorks : .none
        if let text = parser.text("pairing") {
            guard let pairing = SimulatedPairing(rawValue: text) else {
                let known = SimulatedPairing.allCases.map(\.rawValue).joined(separator: ", ")
                throw SimulatorError("--pairing \(text): write one of \(known)")
            }
            options.pairing = pairing
        }
        options.passkey = UInt32(try parser.number("passkey", in: 0...999_999) ?? Int(options.passkey))
        options.timeScale = try parser.decimal("time-scale", in: 0.01...10_000) ?? 1
        options.recordEvery = try parser.number("record-every", in: 1...86_400_000).map { .milliseconds($0) }
        options.slots = try parser.number("slots", in: 1...64)
        options.systemd = parser.flag("systemd")
        if let text = parser.text("adapter-faults") { options.adapterFaults = try script(text) }
        options.socketBuffer =
            try parser.number("socket-buffer", in: 4_096...16_777_216) ?? options.socketBuffer
        options.attLatency =
            try parser.number("att-latency", in: 0...60_000).map { .milliseconds($0) }
            ?? options.attLatency
        return options
    }

    private static func radio(_ parser: inout OptionParser) throws(SimulatorError) -> RadioOptions {
        let address = try busAddress(&parser)
        guard let adapter = parser.text("adapter") else {
            throw SimulatorError("--adapter hciN is missing: the adapter that the band uses")
        }
        let band = BandSetup(
            address: BluetoothAddress(bits: 0), name: parser.text("name") ?? "Band 01",
            options: try bandOptions(&parser))
        var options = RadioOptions(address: address, adapter: adapter, band: band)
        options.stateDirectory = parser.text("state")
        options.ackLog = parser.text("ack-log")
        options.truthFile = parser.text("truth")
        options.rate = try parser.number("rate", in: 0...1_000_000) ?? options.rate
        options.addressFile = parser.text("address-file")
        options.acquireNotify = !parser.flag("no-acquire-notify")
        options.requireEncryption = parser.flag("require-pairing")
        options.recordEvery = try parser.number("record-every", in: 1...86_400_000).map { .milliseconds($0) }
        return options
    }

    private static func busAddress(_ parser: inout OptionParser) throws(SimulatorError) -> BusAddress {
        let address = parser.text("address")
        guard parser.flag("system") else { return address.map(BusAddress.address) ?? .system }
        guard address == nil else { throw SimulatorError("--address and --system exclude each other") }
        return .system
    }

    private static func firstAddress(_ parser: inout OptionParser) throws(SimulatorError) -> BluetoothAddress
    {
        let text = parser.text("first-address") ?? "F0:F1:F2:F3:F4:F0"
        guard let address = BluetoothAddress(text) else {
            throw SimulatorError("--first-address \(text): write it as F0:F1:F2:F3:F4:F0")
        }
        return address
    }

    private static func script(_ text: String) throws(SimulatorError) -> FaultScript {
        do { return try FaultScript(text) } catch { throw SimulatorError(error.description) }
    }

    private static func bandOptions(_ parser: inout OptionParser) throws(SimulatorError)
        -> SimulatedBandOptions
    {
        var options = SimulatedBandOptions()
        options.seed = UInt64(try parser.number("seed", in: 0...Int.max) ?? 1)
        options.records = try parser.number("records", in: 0...100_000_000) ?? 1_000
        options.capacity = try parser.number("capacity", in: 1...100_000_000) ?? 1_000_000
        options.window = UInt16(try parser.number("window", in: 0...65_535) ?? 64)
        options.recordIntervalMilliseconds = Int64(try parser.number("interval", in: 1...86_400_000) ?? 1_000)
        options.clockOffsetMilliseconds = Int64(
            try parser.number("clock-offset", in: -4_000_000_000_000...4_000_000_000_000) ?? 0)
        options.driftPPM = try parser.decimal("drift", in: -10_000...10_000) ?? 0
        options.isLifelike = parser.flag("lifelike")
        options.clockSteps = try parser.number("clock-steps", in: 0...1_000) ?? 0
        if let text = parser.text("utc-offset") {
            guard text != "unknown" else {
                options.offsetQuarterHours = nil
                return try withFaults(options, &parser)
            }
            guard let minutes = Int(text), minutes % 15 == 0, (-840...840).contains(minutes) else {
                throw SimulatorError("--utc-offset \(text): write minutes in steps of 15, or unknown")
            }
            options.offsetQuarterHours = Int8(minutes / 15)
        }
        return try withFaults(options, &parser)
    }

    private static func withFaults(
        _ options: SimulatedBandOptions, _ parser: inout OptionParser
    ) throws(SimulatorError) -> SimulatedBandOptions {
        var options = options
        if let text = parser.text("faults") { options.faults = try script(text) }
        return options
    }
}
