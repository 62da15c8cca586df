import BandProfile
import CommandLineText
import Foundation
import GatewayModel
import Testing

private let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
private let text = "F0:F1:F2:F3:F4:F5"
private let moment = TimeArgument.at(Timestamp(milliseconds: 1_793_079_060_000))

@Suite struct InvocationTests {
    // Not in the attribute: Swift 6.0.3 crashes on an interpolation there.
    static let commands: [(String, Command)] = [
        ("status", .status), ("doctor", .doctor), ("--json doctor", .doctor),
        ("bands", .bands),
        ("scan", .scan(seconds: 10)),
        ("scan --seconds 30", .scan(seconds: 30)),
        ("adopt \(text)", .adopt(address, mode: .own, ack: .stored, device: nil, name: nil, pairs: true)),
        (
            "adopt --mode observe f0:f1:f2:f3:f4:f5 --name Anna --device-id=anna-1",
            .adopt(
                address, mode: .observe, ack: .stored, device: DeviceID("anna-1"), name: "Anna", pairs: true)
        ),
        (
            "adopt \(text) --ack upload --no-pair",
            .adopt(address, mode: .own, ack: .upload, device: nil, name: nil, pairs: false)
        ),
        ("pair \(text)", .pair(text)), ("pair Anna", .pair("Anna")),
        ("forget \(text)", .forget(text)), ("forget Anna", .forget("Anna")),
        ("sync", .sync(nil, noAck: false)),
        ("sync --no-ack", .sync(nil, noAck: true)),
        ("sync \(text) --no-ack", .sync(text, noAck: true)), ("sync anna-1", .sync("anna-1", noAck: false)),
        ("upload status", .upload(.status)), ("upload now", .upload(.now(wait: 60))),
        ("upload now --wait 0", .upload(.now(wait: 0))), ("upload now --wait=5m", .upload(.now(wait: 300))),
        ("upload pause", .upload(.pause(for: nil))), ("upload pause --for 2h", .upload(.pause(for: 7_200))),
        ("upload resume", .upload(.resume)), ("upload retry", .upload(.retry(band: nil))),
        ("upload retry anna-1", .upload(.retry(band: "anna-1"))),
        ("reconcile", .reconcile(band: nil, days: nil, isDryRun: false)),
        ("reconcile Anna --days 7 --dry-run", .reconcile(band: "Anna", days: 7, isDryRun: true)),
        ("replace", .replace(nil)),
        ("replace --all --dry-run", .replace(ReplaceRequest(bands: [], isEverything: true, isDryRun: true))),
        (
            "replace anna-1 \(text) Anna --force",
            .replace(ReplaceRequest(bands: ["anna-1", text, "Anna"], isForced: true))
        ),
        ("replace anna-1 --address \(text)", .replace(ReplaceRequest(bands: ["anna-1"], address: address))),
        ("person add Anna", .person(.add(name: "Anna", id: nil, sharesName: false))),
        (
            "person add --share-name Anna --id=p_1",
            .person(.add(name: "Anna", id: PersonID("p_1"), sharesName: true))
        ),
        ("person list", .person(.list)), ("person remove Anna", .person(.remove("Anna"))),
        (
            "person zone Anna Europe/Berlin --from now",
            .person(.setZone(person: "Anna", zone: "Europe/Berlin", from: .now))
        ),
        (
            "person zone p_1 --remove --from 2026-10-27T05:31Z",
            .person(.removeZone(person: "p_1", from: moment))
        ),
        ("assign \(text) Anna --from now", .assign(band: text, person: "Anna", from: .now, to: nil)),
        (
            "assign anna-1 p_1 --from 2026-10-27T05:31Z --to now",
            .assign(band: "anna-1", person: "p_1", from: moment, to: .now)
        ),
        ("unassign \(text) --from 2026-10-27T05:31Z", .unassign(band: text, from: moment)),
        ("assignments", .assignments(band: nil)), ("assignments anna-1", .assignments(band: "anna-1")),
        ("unassign Anna --from now", .unassign(band: "Anna", from: .now)),
        ("assignments Anna", .assignments(band: "Anna")),
        ("gaps", .gaps(device: nil, all: false)),
        ("gaps --all --device anna-1", .gaps(device: "anna-1", all: true)),
        ("gaps \(text) --all", .gaps(device: text, all: true)),
        ("gaps Anna", .gaps(device: "Anna", all: false)),
        ("trends", .trends(TrendsRequest())),
        (
            "trends --days 7 --type steps --person Anna --hours --tz Asia/Kolkata",
            .trends(
                TrendsRequest(
                    subject: .person("Anna"), days: 7, types: [.steps], byHour: true, zone: "Asia/Kolkata"))
        ),
        ("trends --device \(text)", .trends(TrendsRequest(subject: .band(text)))),
        ("trends Anna", .trends(TrendsRequest(subject: .band("Anna")))),
        ("export --format jsonl", .export(.jsonl, device: nil)),
        ("export --format=csv --device \(text)", .export(.csv, device: text)),
        ("export Anna --format csv", .export(.csv, device: "Anna")),
        ("recover --start-empty", .recover(startsEmpty: true)), ("recover", .recover(startsEmpty: false)),
        ("help", .help(nil)), ("help sync", .help("sync")), ("sync --help", .help("sync")), ("", .help(nil)),
        ("-h", .help(nil)), ("version", .version), ("--version", .version),
    ]

    @Test(arguments: commands)
    func aCommandIsUnderstood(_ line: String, _ command: Command) throws {
        #expect(try Invocation.parse(words(line)).command == command)
    }

    @Test(arguments: ["--config /c --json status", "status --json --config=/c", "--json status --config /c"])
    func commonOptionsStandAnywhere(_ line: String) throws {
        let invocation = try Invocation.parse(words(line))
        #expect(invocation.configuration == "/c")
        #expect(invocation.json)
        #expect(invocation.command == .status)
    }

    static let mistakes: [(String, String)] = [
        ("fly", "no command 'fly'"), ("status now", "unexpected 'now'"),
        ("status --fast", "no option '--fast'"),
        ("status --no-ack", "no option --no-ack"), ("scan --seconds", "needs a value"),
        ("scan --seconds 0", "from 1 to 300"), ("scan --seconds ten", "from 1 to 300"),
        ("adopt", "needs a band's address"), ("adopt F0:F1", "is no address"),
        ("adopt \(text) --mode mine", "'own' or 'observe'"), ("adopt \(text) --device-id a/b", "1 to 64"),
        ("forget", "needs a band: its address"), ("sync F0 F1", "unexpected 'F1'"),
        ("export", "--format jsonl"), ("export --format xml", "'jsonl' or 'csv'"),
        ("person", "person add"), ("person fly", "no 'person fly'"), ("person add", "needs a name"),
        ("person add Anna --id a/b", "1 to 128"), ("person list Anna", "unexpected 'Anna'"),
        ("person remove", "needs a person"), ("person remove Anna Ben", "unexpected 'Ben'"),
        ("person zone", "needs a person"), ("person zone Anna", "since when"),
        ("person zone Anna --from now", "name the time zone"),
        ("person zone Anna Europe/Berlin", "since when"),
        ("person zone Anna Europe/Berlin --remove --from now", "no zone is named"),
        ("assign", "needs a band"),
        ("assign anna-1", "needs a person"), ("assign anna-1 Anna", "--from now"),
        ("assign anna-1 Anna --from yesterday", "--from: 'yesterday' is no time"),
        ("assign anna-1 Anna --from now --to 2026-10-03", "--to: '2026-10-03' has no time of day"),
        ("unassign anna-1", "say which one"), ("assignments a b", "unexpected 'b'"),
        ("trends --days 0", "from 1 to 3660"), ("trends --days x", "not 'x'"),
        ("trends --type mood", "heart_rate, steps, spo2, sleep_stage"),
        ("trends --person Anna --device anna-1", "not both"), ("trends Anna --person Anna", "not both"),
        ("gaps Anna --device anna-1", "not both"), ("export --format csv a --device b", "not both"),
        ("gaps --hours", "no option --hours"),
        ("upload", "upload status, now"), ("upload fast", "no 'upload fast'"),
        ("upload now --wait 2h", "at most an hour"), ("upload pause --for soon", "45m, 2h, 1h30m or 3d"),
        ("upload resume --for 2h", "no option --for"), ("upload pause now", "unexpected 'now'"),
        ("reconcile --days 0", "from 1 on"), ("reconcile a b", "unexpected 'b'"),
        ("replace --dry-run", "or say --all"), ("replace a --all", "not both"),
        ("replace a b --address \(text)", "one band"), ("replace a --address b", "'b' is none"),
        ("status --json --json", "given twice"),
        ("status --json=yes", "takes no value"), ("-v", "no option '-v'"), ("--", "no option '--'"),
    ]

    /// As of a variable that is not set: it is not the same as nothing, which often means all.
    @Test(arguments: [
        ["upload", "retry", ""], ["sync", ""], ["reconcile", ""], [""], ["person", "add", ""],
        ["gaps", "--device", ""], ["gaps", "--device="], ["adopt", "F0:F1:F2:F3:F4:F5", "--name", ""],
    ])
    func anEmptyArgumentIsRefused(_ words: [String]) {
        #expect(throws: UsageError.self) { try Invocation.parse(words) }
    }

    @Test(arguments: [
        ("statsu", "; did you mean 'status'?"), ("gpas", "; did you mean 'gaps'?"),
        ("synk", "; did you mean 'sync'?"), ("asign", "; did you mean 'assign'?"),
        ("status --jsno", "; did you mean '--json'?"), ("trends --tpye steps", "; did you mean '--type'?"),
        ("fly", "'fly'"), ("x", "'x'"), ("trends --weeks 2", "'--weeks'"),
    ])
    func aSlipIsAnsweredWithTheWordThatWasMeant(_ line: String, _ end: String) {
        do {
            let invocation = try Invocation.parse(words(line))
            Issue.record("understood as \(invocation)")
        } catch {
            #expect(error.message.hasSuffix(end), "\(error)")
        }
    }

    @Test(arguments: [("trends --weeks 2", "trends"), ("--weeks 2 trends", "trends"), ("--weeks", nil)])
    func anUnknownOptionLeadsToTheHelpOfItsCommand(_ line: String, _ command: String?) {
        do {
            let invocation = try Invocation.parse(words(line))
            Issue.record("understood as \(invocation)")
        } catch {
            #expect(error.command == command)
        }
    }

    @Test(arguments: mistakes)
    func whatIsNotUnderstoodSaysWhy(_ line: String, _ message: String) {
        do {
            let invocation = try Invocation.parse(words(line))
            Issue.record("understood as \(invocation)")
        } catch {
            #expect(error.message.contains(message), "\(error)")
            #expect(error.description.contains("bandferry help"))
        }
    }

    @Test func everyCommandHasAPage() throws {
        for name in HelpText.commands {
            let page = try #require(HelpText.page(name))
            #expect(page.contains("bandferry \(name)") && page.contains("SYNOPSIS"))
            #expect(page.split(separator: "\n").allSatisfy { $0.count <= 120 }, "\(name)")
        }
        #expect(HelpText.page("fly") == nil)
        let overview = try #require(HelpText.page(nil))
        for name in HelpText.commands { #expect(overview.contains("  \(name) ")) }
        for code in ExitCode.allCases { #expect(overview.contains("\(code.rawValue)  \(code.meaning)")) }
    }

    @Test func theDocumentedExitStatusesAreThese() throws {
        let top = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent()
        let text = try String(
            contentsOf: top.appendingPathComponent("docs/configuration.md"), encoding: .utf8)
        let section = try #require(text.components(separatedBy: "\n## How `bandferry` ends\n").last)
        let rows = section.prefix { $0 != "#" }.split(separator: "\n").filter { $0.hasPrefix("| ") }
            .dropFirst()
        #expect(rows.map(String.init) == ExitCode.allCases.map { "| \($0.rawValue) | \($0.meaning) |" })
    }

    private func words(_ line: String) -> [String] { line.split(separator: " ").map(String.init) }
}
