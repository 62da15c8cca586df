import BandModel
import Testing

@testable import BandSimulator

@Suite struct CommandTests {
    @Test func everyOptionOfTheBusIsRead() throws {
        let command = try SimulatorCommand(
            [
                "bus", "--address", "unix:path=/x", "--bands=3", "--first-address", "F0:F1:F2:F3:F4:FE",
                "--seed", "9",
                "--records", "5", "--window", "2", "--faults", "drop:0.5", "--faults-for",
                "F0:F1:F2:F3:F4:FF=noend",
                "--bluez-version", "5.84", "--mtu", "185", "--rate", "420", "--no-acquire-notify",
                "--utc-offset", "unknown", "--clock-offset", "-5000", "--time-scale", "2.5",
            ])
        guard case .bus(let options, _) = command else {
            Issue.record("not a bus")
            return
        }
        #expect(options.address == .address("unix:path=/x"))
        #expect(
            options.bands.map(\.address.description) == [
                "F0:F1:F2:F3:F4:FE", "F0:F1:F2:F3:F4:FF", "F0:F1:F2:F3:F5:00",
            ])
        #expect(options.bands.map(\.options.seed) == [9, 10, 11])
        #expect(options.bands.map(\.options.faults.text) == ["drop:0.5", "noend", "drop:0.5"])
        #expect(options.bands[0].options.offsetQuarterHours == nil)
        #expect(options.bands[0].options.clockOffsetMilliseconds == -5_000)
        #expect(
            options.version == .v5_84 && options.mtu == 185 && options.rate == 420 && !options.acquireNotify)
        #expect(options.timeScale == 2.5)
    }

    @Test(arguments: [
        ["--help"], ["bus", "--help"], ["bus", "-h"], ["truth", "--help"], ["radio", "--help"],
    ])
    func helpIsGivenWhereverItIsAskedFor(arguments: [String]) throws {
        guard case .help = try SimulatorCommand(arguments) else {
            Issue.record("no help")
            return
        }
    }

    @Test(
        arguments: [
            ([], "say what to simulate: bandsim bus, bandsim radio; see bandsim --help"),
            (["buss"], "\"buss\" is no command: use bus, radio or truth; see bandsim --help"),
            (["bus", "--bands", "0"], "--bands 0: write a number from 1 to 64"),
            (["bus", "--bands"], "--bands needs a value"),
            (["bus", "--band", "1"], "--band is unknown here; see bandsim --help"),
            (["bus", "bands"], "\"bands\" is no option"),
            (["bus", "--mtu", "x"], "--mtu x: write a number from 23 to 517"),
            (["bus", "--system", "--address", "x"], "--address and --system exclude each other"),
            (["bus", "--bluez-version", "4"], "--bluez-version 4: only 5.66 or 5.84 can be simulated"),
            (["bus", "--faults", "dorp"], "fault script, item 1 \"dorp\": no fault is called \"dorp\""),
            (["bus", "--utc-offset", "7"], "--utc-offset 7: write minutes in steps of 15, or unknown"),
            (
                ["bus", "--faults-for", "x=noend"],
                "--faults-for x=noend: write ADDRESS=SCRIPT with a simulated address"
            ),
            (["radio"], "--adapter hciN is missing: the adapter that the band uses"),
            (["truth"], "--state DIRECTORY is missing"),
        ] as [([String], String)])
    func aBadCommandLineSaysWhatIsWrong(arguments: [String], problem: String) {
        do {
            _ = try SimulatorCommand(arguments)
            Issue.record("accepted")
        } catch {
            #expect("\(error)" == problem)
        }
    }
}
