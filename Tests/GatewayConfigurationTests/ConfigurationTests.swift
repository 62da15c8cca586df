import BandProfile
import Foundation
import GatewayConfiguration
import GatewayModel
import INIFile
import Testing
import UploadDecisions

/// Reads a configuration the way the programs do.
private func read(
    _ text: String
) throws -> (configuration: Configuration, warnings: [ConfigurationNote]) {
    let entries = try INIFile.parse(Array(text.utf8), file: "test.conf")
    return try Configuration.read(
        entries.map {
            ConfigurationLine(section: $0.section, key: $0.key, value: $0.value, number: $0.line)
        }, file: "test.conf")
}

private let first = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let second = BluetoothAddress(bits: 0xf0f1_f2f3_f4f6)

@Suite struct ConfigurationTests {
    @Test func theExampleOfTheDocumentationIsRead() throws {
        let (configuration, warnings) = try read(
            """
            [gateway]
            state_directory = /var/lib/bandferry
            [bands]
            # addresses, or "any": every band that advertises the service, observed only
            adopt = F0:F1:F2:F3:F4:F5
            [band F0:F1:F2:F3:F4:F5]
            mode = own
            [upload]
            url = https://ingest.example.org
            token_file = /etc/bandferry/token
            """)
        var expected = Configuration()
        expected.bands = [
            ConfiguredBand(
                address: first, mode: .own, places: [.list(line: 5, isAlone: true), .section(6...7)])
        ]
        expected.upload = UploadSettings(url: "https://ingest.example.org", tokenFile: "/etc/bandferry/token")
        #expect(configuration == expected)
        #expect(warnings.isEmpty)
    }

    /// As it is installed, and with each key that it shows taken in.
    @Test func theExampleFileIsRead() throws {
        let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appending(path: "systemd/bandferry.conf.example")
        let text = try String(decoding: Data(contentsOf: path), as: UTF8.self)
        let asIs = try read(text)
        #expect(asIs.configuration == Configuration())
        #expect(asIs.warnings.isEmpty)
        let shown = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            let isKey =
                line.first == "#" && (line.dropFirst().first.map { $0.isLowercase || $0 == "[" } ?? false)
            return isKey ? line.dropFirst() : line
        }
        let whole = try read(shown.joined(separator: "\n"))
        #expect(whole.warnings.isEmpty)
        #expect(whole.configuration.upload?.proxy == .server("http://proxy.example.org:3128"))
        #expect(whole.configuration.upload?.meteredHours.spans.count == 1)
    }

    @Test func anEmptyFileGivesTheDefaults() throws {
        #expect(try read("").configuration == Configuration())
    }

    @Test func everyKeyIsRead() throws {
        let configuration = try read(
            """
            [gateway]
            state_directory = /srv/bands
            adapter = 00:1A:7D:DA:71:13, 00:1a:7d:da:71:14
            restart_bluetooth = yes
            sync_interval = 60
            max_links = 5
            log_level = debug
            [bands]
            adopt = any
            [band f0:f1:f2:f3:f4:f5]
            mode = observe
            device_id = anna-1
            name = Anna
            [time]
            trust = always
            [upload]
            url = http://127.0.0.1:8080/base/
            token_file = /t
            ca_file = /ca.pem
            batch_size = 10
            """
        ).configuration
        #expect(configuration.stateDirectory == "/srv/bands")
        let adapters = ["00:1A:7D:DA:71:13", "00:1A:7D:DA:71:14"].compactMap { BluetoothAddress($0) }
        #expect(configuration.adapters == adapters)
        #expect(configuration.restartsBluetooth)
        #expect(configuration.syncInterval == .seconds(60))
        #expect(configuration.maxLinks == 5)
        #expect(configuration.logLevel == .debug)
        #expect(configuration.adoptsAny)
        #expect(configuration.trustsHostClock)
        #expect(
            configuration.band(first)
                == ConfiguredBand(
                    address: first, mode: .observe, device: DeviceID("anna-1"), name: "Anna",
                    places: [.section(10...13)]))
        #expect(
            configuration.upload
                == UploadSettings(
                    url: "http://127.0.0.1:8080/base", tokenFile: "/t", caFile: "/ca.pem", batchSize: 10))
    }

    @Test(arguments: [
        "adopt = F0:F1:F2:F3:F4:F5, F0:F1:F2:F3:F4:F6",
        "adopt = F0:F1:F2:F3:F4:F5 F0:F1:F2:F3:F4:F6",
        "adopt = F0:F1:F2:F3:F4:F5,F0:F1:F2:F3:F4:F6",
        "adopt = F0:F1:F2:F3:F4:F5\nadopt = F0:F1:F2:F3:F4:F6",
        "adopt = \"F0:F1:F2:F3:F4:F5\", f0:f1:f2:f3:f4:f6, F0:F1:F2:F3:F4:F5",
    ])
    func addressesAreListedAnyWay(_ line: String) throws {
        let configuration = try read("[bands]\n\(line)\n").configuration
        #expect(configuration.bands.map(\.address) == [first, second])
        #expect(!configuration.adoptsAny)
    }

    @Test func aBandIsNamedByItsSectionAlone() throws {
        let configuration = try read("[band F0:F1:F2:F3:F4:F5]\n").configuration
        #expect(
            configuration.bands == [ConfiguredBand(address: first, mode: .own, places: [.section(1...1)])])
    }

    @Test func theClockIsTrustedAsTheKernelSaysUnlessTold() throws {
        #expect(try !read("[time]\n").configuration.trustsHostClock)
        #expect(try !read("[time]\ntrust = auto\n").configuration.trustsHostClock)
        #expect(try read("[time]\ntrust = always\n").configuration.trustsHostClock)
    }

    @Test func spaceAndAgeHaveDefaultsAndAreRead() throws {
        let without = try read("").configuration.storage
        #expect(without.freeSpaceFloor == 64 << 20)
        #expect(without.keepDays == 365)
        let given = try read("[storage]\nfree_space_floor = 1000000\nkeep_days = 30\n").configuration.storage
        #expect(given.freeSpaceFloor == 1_000_000)
        #expect(given.keepDays == 30)
        for all in ["0", "never"] {
            #expect(try read("[storage]\nkeep_days = \(all)\n").configuration.storage.keepDays == nil)
        }
        #expect(try read("[storage]\nfree_space_floor = 0\n").configuration.storage.freeSpaceFloor == 0)
    }

    @Test func anyOwnsNothing() throws {
        let configuration = try read("[bands]\nadopt = any, F0:F1:F2:F3:F4:F5\n").configuration
        #expect(configuration.adoptsAny)
        #expect(configuration.bands.map(\.address) == [first])
    }

    @Test(arguments: [
        ("[gateway]\nstate_dir = /x\n", 2, "state_dir", "has state_directory"),
        ("[bands]\nadpot = any\n", 2, "adpot", "has adopt"),
        ("[band F0:F1:F2:F3:F4:F5]\ncolour = red\n", 2, "colour", "mode, ack, device_id, name"),
        ("[upload]\nurl = https://a\ntoken_file = /t\nretries = 3\n", 4, "retries", "batch_size"),
        ("[time]\nserver = a\n", 2, "server", "has trust"),
        ("[storage]\nfloor = 1\n", 2, "floor", "free_space_floor, keep_days"),
        ("[uplaod]\n", 1, nil, "unknown section [uplaod]"),
    ])
    func whatIsUnknownIsWarnedOfAndIgnored(_ text: String, _ line: Int, _ key: String?, _ words: String)
        throws
    {
        let warnings = try read(text).warnings
        #expect(warnings.count == 1)
        #expect(warnings.first?.line == line)
        #expect(warnings.first?.key == key)
        #expect(warnings.first?.description.hasPrefix("test.conf:\(line): ") == true)
        #expect(warnings.first?.message.contains(words) == true, "\(warnings)")
    }

    @Test(arguments: badLines) func aBadValueNamesFileLineAndKey(_ bad: BadLine) {
        do {
            _ = try read(bad.text)
            Issue.record("accepted: \(bad.text)")
        } catch let errors as ConfigurationErrors {
            let note = errors.notes.first
            #expect(note?.line == bad.line, "\(errors)")
            #expect(note?.key == bad.key, "\(errors)")
            #expect(note?.message.contains(bad.words) == true, "\(errors)")
            #expect(errors.notes.count == 1, "\(errors)")
        } catch {
            Issue.record(error)
        }
    }

    @Test func allErrorsAreReportedAtOnce() {
        #expect(throws: ConfigurationErrors.self) {
            try read("[gateway]\nlog_level = loud\nsync_interval = soon\n[bands]\nadopt = nobody\n")
        }
        do {
            _ = try read("[gateway]\nlog_level = loud\nsync_interval = soon\n[bands]\nadopt = nobody\n")
        } catch let errors as ConfigurationErrors {
            #expect(errors.notes.map(\.line) == [2, 3, 5])
            #expect(errors.description.split(separator: "\n").count == 3)
        } catch {
            Issue.record(error)
        }
    }

    @Test(arguments: [
        "https://ingest.example.org", "https://ingest.example.org:8443/v", "https://[2001:db8::1]:443",
        "http://localhost:8080", "http://127.0.0.1", "http://127.1.2.3:1", "http://[::1]:8080", "HTTPS://a",
    ])
    func theServersAddressMayBe(_ url: String) throws {
        let configuration = try read("[upload]\nurl = \(url)\ntoken_file = /t\n").configuration
        #expect(configuration.upload?.url.lowercased() == url.lowercased())
    }
}

/// Keys of `[upload]` that say how and when it goes.
@Suite struct UploadConfigurationTests {
    private let server = "[upload]\nurl = https://a\ntoken_file = /t\n"

    private func upload(_ lines: String) throws -> UploadSettings? {
        let (configuration, warnings) = try read(server + lines + "\n")
        #expect(warnings.isEmpty)
        return configuration.upload
    }

    @Test func everyKeyHasItsPlace() throws {
        var expected = UploadSettings(url: "https://a", tokenFile: "/t")
        #expect(try upload("") == expected)
        #expect(expected.leaseSeconds == 3_600)
        #expect(try upload("lease_seconds = 1")?.leaseSeconds == 1)
        expected.clientCertificate = "/c.pem"
        expected.clientKey = "/c.key"
        expected.proxy = .server("http://proxy.example.org:3128")
        expected.proxyCredentialsFile = "/p"
        expected.maxKilobytesPerSecond = 50
        expected.meteredHours = MeteredHours([.init(from: 1080, to: 1380)])
        expected.onMetered = .wait
        expected.leaseSeconds = 604_800
        let read = try upload(
            """
            client_certificate = /c.pem
            client_key = /c.key
            proxy = http://proxy.example.org:3128
            proxy_credentials_file = /p
            max_kilobytes_per_second = 50
            metered_hours = 18:00-23:00
            on_metered = wait
            lease_seconds = 604800
            """)
        #expect(read == expected)
    }

    @Test(
        arguments: [
            ("none", .none), ("environment", .environment), ("http://p:3128", .server("http://p:3128")),
            ("https://p.example.org:443/", .server("https://p.example.org:443")),
            ("socks5h://127.0.0.1:9050", .server("socks5h://127.0.0.1:9050")),
            ("http://[2001:db8::1]:3128", .server("http://[2001:db8::1]:3128")),
            ("HTTP://p:1", .server("http://p:1")),
        ] as [(String, ProxySetting)])
    func aProxyMayBe(_ text: String, _ proxy: ProxySetting) throws {
        #expect(try upload("proxy = \(text)")?.proxy == proxy)
    }

    @Test(
        arguments: [
            ("18:00-23:00", [(1080, 1380)]), ("6:00-7:30,22:30-06:00", [(360, 450), (1350, 360)]),
            ("0:00-24:00 , 1:00-2:00", []), ("23:00 - 24:00", [(1380, 1440)]), ("00:00-00:01", [(0, 1)]),
        ] as [(String, [(Int, Int)])])
    func hoursMayBe(_ text: String, _ spans: [(Int, Int)]) throws {
        guard !spans.isEmpty else {
            #expect(throws: ConfigurationErrors.self) { try upload("metered_hours = \(text)") }
            return
        }
        let hours = MeteredHours(spans.map { .init(from: $0.0, to: $0.1) })
        #expect(try upload("metered_hours = \(text)")?.meteredHours == hours)
    }

    static let bad = [
        BadLine("proxy = proxy.example.org:3128", 4, "proxy", "http://proxy.example.org:3128"),
        BadLine("proxy = ftp://p:1", 4, "proxy", "no kind of proxy"),
        BadLine("proxy = socks5://p:1080", 4, "proxy", "socks5h://p:1080"),
        BadLine("proxy = http://p", 4, "proxy", "no port"),
        BadLine("proxy = http://[::1]", 4, "proxy", "no port"),
        BadLine("proxy = http://p:0", 4, "proxy", "no valid host and port"),
        BadLine("proxy = http://p:1/path", 4, "proxy", "no valid host and port"),
        BadLine("proxy = http://anna:secret@p:1", 4, "proxy", "proxy_credentials_file"),
        BadLine("proxy =", 4, "proxy", "none, environment"),
        BadLine("proxy_credentials_file = /p", 4, "proxy_credentials_file", "write proxy ="),
        BadLine(
            "proxy = none\nproxy_credentials_file = /p", 5, "proxy_credentials_file", "no proxy to go to"),
        BadLine(
            "proxy = environment\nproxy_credentials_file = /p", 5, "proxy_credentials_file",
            "no proxy to go to"),
        BadLine("proxy = p\nproxy_credentials_file = /p", 4, "proxy", "no kind of proxy"),
        BadLine("proxy = http://p:1\nproxy_credentials_file = p", 5, "proxy_credentials_file", "absolute"),
        BadLine("client_certificate = /c", 4, "client_key", "is missing; write client_key ="),
        BadLine("client_key = /c", 4, "client_certificate", "is missing; write client_certificate ="),
        BadLine("client_key = k\nclient_certificate = /c", 4, "client_key", "absolute"),
        BadLine("max_kilobytes_per_second = 0", 4, "max_kilobytes_per_second", "from 1 to 1000000"),
        BadLine("max_kilobytes_per_second = 1.5", 4, "max_kilobytes_per_second", "kilobytes, such as 50"),
        BadLine("metered_hours =", 4, "metered_hours", "18:00-23:00"),
        BadLine("metered_hours = 18-23", 4, "metered_hours", "no span"),
        BadLine("metered_hours = 18:00", 4, "metered_hours", "no span"),
        BadLine("metered_hours = 18:00-23:60", 4, "metered_hours", "no span"),
        BadLine("metered_hours = 24:00-1:00", 4, "metered_hours", "no span"),
        BadLine("metered_hours = 18:00-24:01", 4, "metered_hours", "no span"),
        BadLine("metered_hours = 18:00-23:00,", 4, "metered_hours", "no span"),
        BadLine("metered_hours = 18:00-18:00", 4, "metered_hours", "begins when it ends"),
        BadLine("metered_hours = 0:00-12:00, 12:00-24:00", 4, "metered_hours", "nothing would ever go up"),
        BadLine("on_metered = sometimes", 4, "on_metered", "write upload, or wait"),
        BadLine("lease_seconds = 0", 4, "lease_seconds", "from 1 to 604800"),
        BadLine("lease_seconds = 604801", 4, "lease_seconds", "from 1 to 604800"),
        BadLine("lease_seconds = 1h", 4, "lease_seconds", "seconds, such as 3600"),
    ]

    @Test(arguments: bad) func aBadValueIsNamedWithItsPlace(_ bad: BadLine) {
        do {
            _ = try read(server + bad.text + "\n")
            Issue.record("it was taken")
        } catch let errors as ConfigurationErrors {
            #expect(errors.notes.count == 1, "\(errors)")
            #expect(errors.notes.first?.line == bad.line)
            #expect(errors.notes.first?.key == bad.key)
            #expect(errors.notes.first?.message.contains(bad.words) == true, "\(errors)")
            #expect(!"\(errors)".contains("secret"))
        } catch {
            Issue.record(error)
        }
    }
}

struct BadLine: Sendable, CustomTestStringConvertible {
    var text: String
    var line: Int
    var key: String?
    var words: String

    init(_ text: String, _ line: Int, _ key: String?, _ words: String) {
        self.text = text
        self.line = line
        self.key = key
        self.words = words
    }

    var testDescription: String { text.split(separator: "\n").joined(separator: " | ") }
}

private let badLines: [BadLine] = [
    BadLine("[gateway]\nstate_directory = bands\n", 2, "state_directory", "absolute path"),
    BadLine("[gateway]\nstate_directory =\n", 2, "state_directory", "absolute path"),
    BadLine("[gateway]\nadapter = usb0\n", 2, "adapter", "bluetoothctl list"),
    BadLine("[gateway]\nadapter = hci0\n", 2, "adapter", "bluetoothctl list"),
    BadLine("[gateway]\nadapter = 00:1A:7D:DA:71:13 hci0\n", 2, "adapter", "bluetoothctl list"),
    BadLine("[gateway]\nadapter =\n", 2, "adapter", "bluetoothctl list"),
    BadLine("[gateway]\nrestart_bluetooth = true\n", 2, "restart_bluetooth", "\"yes\""),
    BadLine("[gateway]\nmax_links = 0\n", 2, "max_links", "from 1 to 64"),
    BadLine("[gateway]\nsync_interval = 0\n", 2, "sync_interval", "from 1 to 86400"),
    BadLine("[gateway]\nsync_interval = 15 min\n", 2, "sync_interval", "seconds"),
    BadLine("[gateway]\nsync_interval = -5\n", 2, "sync_interval", "from 1"),
    BadLine("[gateway]\nsync_interval = 99999999999999999999\n", 2, "sync_interval", "from 1"),
    BadLine(
        "[gateway]\nsync_interval = 900 # often\n", 2, "sync_interval", "a comment needs a line of its own"),
    BadLine("[gateway]\nlog_level = loud\n", 2, "log_level", "error, warning, notice, info, debug"),
    BadLine("log_level = info\n", 1, "log_level", "before any section"),
    BadLine("[bands]\nadopt = nobody\n", 2, "adopt", "F0:F1:F2:F3:F4:F5"),
    BadLine("[bands]\nadopt = F0:F1:F2:F3:F4\n", 2, "adopt", "is no address"),
    BadLine("[bands]\nadopt =\n", 2, "adopt", "no address"),
    BadLine("[bands]\nadopt = , ,\n", 2, "adopt", "no address"),
    BadLine("[band]\nmode = own\n", 1, nil, "[band F0:F1:F2:F3:F4:F5]"),
    BadLine("[band nobody]\nmode = own\n", 1, nil, "[band F0:F1:F2:F3:F4:F5]"),
    BadLine("[band any]\nmode = own\n", 1, nil, "observed only"),
    BadLine("[band F0:F1:F2:F3:F4:F5]\nmode = mine\n", 2, "mode", "own"),
    BadLine("[band F0:F1:F2:F3:F4:F5]\nmode = own\nmode = observe\n", 3, "mode", "first in line 2"),
    BadLine("[band F0:F1:F2:F3:F4:F5]\ndevice_id = Anna's\n", 2, "device_id", "1 to 64"),
    BadLine("[band F0:F1:F2:F3:F4:F5]\nname =\n", 2, "name", "1 to 64"),
    BadLine(
        "[band F0:F1:F2:F3:F4:F5]\ndevice_id = a\n[band F0:F1:F2:F3:F4:F6]\ndevice_id = a\n", 3, "device_id",
        "also the id of F0:F1:F2:F3:F4:F5"),
    BadLine("[time]\ntrust = never\n", 2, "trust", "auto"),
    BadLine("[time]\ntrust =\n", 2, "trust", "always"),
    BadLine("[storage]\nfree_space_floor = 64M\n", 2, "free_space_floor", "bytes"),
    BadLine("[storage]\nkeep_days = a year\n", 2, "keep_days", "never"),
    BadLine("[upload]\ntoken_file = /t\n", 1, "url", "is missing"),
    BadLine("[upload]\nurl = https://a\n", 1, "token_file", "is missing"),
    BadLine("[upload]\nurl = ingest.example.org\ntoken_file = /t\n", 2, "url", "https://"),
    BadLine("[upload]\nurl = http://ingest.example.org\ntoken_file = /t\n", 2, "url", "in the clear"),
    BadLine("[upload]\nurl = http://127.0.0.1.example.org\ntoken_file = /t\n", 2, "url", "in the clear"),
    BadLine("[upload]\nurl = http://localhost.example.org\ntoken_file = /t\n", 2, "url", "in the clear"),
    BadLine("[upload]\nurl = https://user:pass@a\ntoken_file = /t\n", 2, "url", "token_file"),
    BadLine("[upload]\nurl = https://\ntoken_file = /t\n", 2, "url", "no valid host"),
    BadLine("[upload]\nurl = https://a:port\ntoken_file = /t\n", 2, "url", "no valid host"),
    BadLine("[upload]\nurl = https://a:0\ntoken_file = /t\n", 2, "url", "no valid host"),
    BadLine("[upload]\nurl = https://[::1\ntoken_file = /t\n", 2, "url", "no valid host"),
    BadLine("[upload]\nurl = https://a?x=1\ntoken_file = /t\n", 2, "url", "query"),
    BadLine("[upload]\nurl = https://a b\ntoken_file = /t\n", 2, "url", "character"),
    BadLine("[upload]\nurl = https://a\ntoken_file = token\n", 2 + 1, "token_file", "absolute"),
    BadLine("[upload]\nurl = https://a\ntoken_file = /t\nca_file = ca.pem\n", 4, "ca_file", "absolute"),
    BadLine(
        "[upload]\nurl = https://a\ntoken_file = /t\nbatch_size = 501\n", 4, "batch_size", "from 1 to 500"),
]
