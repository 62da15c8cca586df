import BandProfile
import GatewayModel

extension Invocation {
    /// `arguments` without the program's name. Options may stand before or after the command.
    public static func parse(_ arguments: [String]) throws(UsageError) -> Invocation {
        var parser = InvocationParser(arguments)
        return try parser.invocation()
    }
}

/// Splits options from words; every command then takes what it knows, and what is left over is refused.
struct InvocationParser {
    private(set) var words: [String] = []
    private var options: [(name: String, value: String?)] = []
    private var unsplit: [String]

    /// Options that take a value; all others are switches.
    private static let valued: Set = [
        "config", "seconds", "mode", "ack", "device-id", "name", "device", "format", "id", "from", "to",
        "days",
        "type", "person", "tz", "wait", "for", "address",
    ]
    private static let switches: Set = [
        "json", "no-ack", "no-pair", "start-empty", "share-name", "remove", "all", "hours", "dry-run",
        "force", "help",
        "version",
    ]

    init(_ arguments: [String]) { unsplit = arguments }

    mutating func invocation() throws(UsageError) -> Invocation {
        try split()
        let json = takeSwitch("json")
        let configuration = takeValue("config")
        let wantsHelp = takeSwitch("help")
        if takeSwitch("version") {
            return Invocation(configuration: configuration, json: json, command: .version)
        }
        let name = words.isEmpty ? nil : words.removeFirst()
        if wantsHelp || name == nil {
            return Invocation(configuration: configuration, json: json, command: .help(name))
        }
        let command = try command(name ?? "")
        if let left = options.first {
            throw UsageError(message: "'\(name ?? "")' has no option --\(left.name)", command: name)
        }
        if let left = words.first { throw UsageError(message: "unexpected '\(left)'", command: name) }
        return Invocation(configuration: configuration, json: json, command: command)
    }

    private mutating func command(_ name: String) throws(UsageError) -> Command {
        switch name {
        case "status": return .status
        case "doctor": return .doctor
        case "bands": return .bands
        case "scan": return .scan(seconds: try seconds())
        case "adopt": return try adopt()
        case "pair": return .pair(try requiredBand(for: name))
        case "forget": return .forget(try requiredBand(for: name))
        case "sync": return .sync(takeWord(), noAck: takeSwitch("no-ack"))
        case "upload": return .upload(try upload())
        case "reconcile": return try reconcile()
        case "replace": return .replace(try replace())
        case "person": return .person(try person())
        case "assign": return try assign()
        case "unassign": return try unassign()
        case "assignments": return .assignments(band: takeWord())
        case "gaps": return .gaps(device: try oneBand(for: name), all: takeSwitch("all"))
        case "trends": return .trends(try trends())
        case "export": return .export(try format(), device: try oneBand(for: name))
        case "recover": return .recover(startsEmpty: takeSwitch("start-empty"))
        case "help": return .help(words.isEmpty ? nil : words.removeFirst())
        case "version": return .version
        default: throw UsageError.noCommand(name)
        }
    }

    private mutating func adopt() throws(UsageError) -> Command {
        let address = try requiredAddress(for: "adopt")
        let modeText = takeValue("mode") ?? BandMode.own.rawValue
        guard let mode = BandMode(rawValue: modeText) else {
            throw UsageError(message: "--mode is 'own' or 'observe', not '\(modeText)'", command: "adopt")
        }
        let ackText = takeValue("ack") ?? AckPolicy.stored.rawValue
        guard let ack = AckPolicy(rawValue: ackText) else {
            throw UsageError(message: "--ack is 'stored' or 'upload', not '\(ackText)'", command: "adopt")
        }
        var device: DeviceID?
        if let text = takeValue("device-id") {
            guard let id = DeviceID(text) else {
                throw UsageError(
                    message: "--device-id has 1 to 64 of the characters A-Z a-z 0-9 _ . -", command: "adopt")
            }
            device = id
        }
        return .adopt(
            address, mode: mode, ack: ack, device: device, name: takeValue("name"),
            pairs: !takeSwitch("no-pair"))
    }

    private mutating func seconds() throws(UsageError) -> Int {
        guard let text = takeValue("seconds") else { return 10 }
        guard let seconds = Int(text), (1...300).contains(seconds) else {
            throw UsageError(message: "--seconds is a number from 1 to 300, not '\(text)'", command: "scan")
        }
        return seconds
    }

    private mutating func format() throws(UsageError) -> ExportFormat {
        guard let text = takeValue("format") else {
            throw UsageError(message: "say --format jsonl or --format csv", command: "export")
        }
        guard let format = ExportFormat(rawValue: text) else {
            throw UsageError(message: "--format is 'jsonl' or 'csv', not '\(text)'", command: "export")
        }
        return format
    }

    private mutating func requiredAddress(for command: String) throws(UsageError) -> BluetoothAddress {
        guard !words.isEmpty else {
            throw UsageError(
                message: "'\(command)' needs a band's address, such as F0:F1:F2:F3:F4:F5", command: command)
        }
        let word = words.removeFirst()
        guard let address = BluetoothAddress(word) else {
            throw UsageError(
                message: "'\(word)' is no address; write it as F0:F1:F2:F3:F4:F5", command: command)
        }
        return address
    }

    /// An address, a device id or a name; which there are is not known here.
    mutating func requiredBand(for command: String) throws(UsageError) -> String {
        if let word = takeWord() { return word }
        throw UsageError(
            message: "'\(command)' needs a band: its address, its device id or its name", command: command)
    }

    /// A band as a word, as most commands take it, or as `--device`; nil = every one.
    mutating func oneBand(for command: String) throws(UsageError) -> String? {
        let word = takeWord()
        guard let device = takeValue("device") else { return word }
        if let word {
            throw UsageError(
                message: "say '\(word)' or --device \(device), not both: it is of one band", command: command)
        }
        return device
    }

    // MARK: words and options

    /// Nil when there is none left.
    mutating func takeWord() -> String? { words.isEmpty ? nil : words.removeFirst() }

    private mutating func split() throws(UsageError) {
        var rest = unsplit[...]
        while let word = rest.popFirst() {
            // As a script gives where its variable is not set. Left out it would often mean all.
            guard !word.isEmpty else { throw UsageError(message: "an argument is empty", command: nil) }
            guard word.hasPrefix("-"), word != "-" else {
                words.append(word)
                continue
            }
            if word == "-h" {
                options.append(("help", nil))
                continue
            }
            let parts = word.dropFirst(word.hasPrefix("--") ? 2 : 1).split(
                separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts.first ?? "")
            guard word.hasPrefix("--"), Self.valued.contains(name) || Self.switches.contains(name) else {
                let command = (words + rest).first { HelpText.commands.contains($0) }
                throw noOption(word, name: name, command: command)
            }
            if options.contains(where: { $0.name == name }) {
                throw UsageError(message: "--\(name) is given twice", command: nil)
            }
            if Self.switches.contains(name) {
                guard parts.count == 1 else {
                    throw UsageError(message: "--\(name) takes no value", command: nil)
                }
                options.append((name, nil))
            } else if let value = parts.count == 2 ? String(parts[1]) : rest.popFirst(), !value.isEmpty {
                options.append((name, value))
            } else {
                throw UsageError(message: "--\(name) needs a value", command: nil)
            }
        }
    }

    private func noOption(_ word: String, name: String, command: String?) -> UsageError {
        let hint = NearMiss.hint(for: name, among: Self.valued.union(Self.switches), prefix: "--")
        return UsageError(message: "there is no option '\(word)'" + hint, command: command)
    }

    mutating func takeSwitch(_ name: String) -> Bool {
        guard let index = options.firstIndex(where: { $0.name == name }) else { return false }
        options.remove(at: index)
        return true
    }

    mutating func takeValue(_ name: String) -> String? {
        guard let index = options.firstIndex(where: { $0.name == name }) else { return nil }
        return options.remove(at: index).value
    }
}
