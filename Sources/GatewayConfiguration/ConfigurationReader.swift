import BandProfile
import GatewayModel

extension Configuration {
    /// `warnings` are lines that are ignored: a newer version's key, or a misspelt one.
    public static func read(
        _ lines: [ConfigurationLine], file: String
    ) throws(ConfigurationErrors) -> (configuration: Configuration, warnings: [ConfigurationNote]) {
        var reader = ConfigurationReader(file: file)
        for line in lines { reader.take(line) }
        reader.finish()
        guard reader.errors.isEmpty else { throw ConfigurationErrors(notes: reader.errors) }
        return (reader.configuration, reader.warnings)
    }
}

/// Takes the lines in the order of the file and keeps what is wrong.
struct ConfigurationReader {
    private let file: String
    private(set) var configuration = Configuration()
    private(set) var errors: [ConfigurationNote] = []
    private(set) var warnings: [ConfigurationNote] = []

    private enum Section: Hashable {
        case gateway, bands, time, upload, storage, metrics
        case band(BluetoothAddress)
        case unknown
    }

    private struct Position: Hashable {
        var section: Section
        var key: String
    }

    private var seen: [Position: Int] = [:]
    private var upload = UploadSection()
    private var uploadLine: Int?

    init(file: String) { self.file = file }

    mutating func take(_ line: ConfigurationLine) {
        let section = section(of: line)
        guard !line.key.isEmpty else {
            if case .band(let address) = section { name(address, at: .section(line.number...line.number)) }
            if section == .upload { uploadLine = uploadLine ?? line.number }
            return
        }
        guard section != .unknown else { return }
        let position = Position(section: section, key: line.key)
        // `adopt` collects; for any other key two values leave open which is meant, and `mode` is destructive.
        if line.key != "adopt", let first = seen[position] {
            return refuse(line, "given twice, first in line \(first); remove one of the two")
        }
        seen[position] = line.number
        do throws(Refusal) {
            switch section {
            case .gateway: try takeGateway(line)
            case .bands: try takeBands(line)
            case .band(let address): try takeBand(address, line)
            case .time: try takeTime(line)
            case .upload: try takeUpload(line)
            case .storage: try takeStorage(line)
            case .metrics: try takeMetrics(line)
            case .unknown: break
            }
        } catch {
            refuse(line, error.message)
        }
    }

    mutating func finish() {
        finishUpload()
        checkAcks()
        var owners: [DeviceID: ConfiguredBand] = [:]
        for band in configuration.bands {
            if let other = owners[band.device] {
                errors.append(
                    ConfigurationNote(
                        file: file, line: band.lines.last, key: "device_id",
                        message: "\(band.device) is also the id of \(other.address); "
                            + "samples of two bands must never mix: give each its own"))
            }
            owners[band.device] = band
        }
    }

    /// `ack = upload` where nothing is ever acked, or nothing ever confirmed: the band would fill up.
    private mutating func checkAcks() {
        for band in configuration.bands where band.ack == .upload {
            let why =
                if band.mode == .observe {
                    "a band that is observed is never acked; remove the line, or write mode = own"
                } else if configuration.upload == nil {
                    "without [upload] no server ever confirms anything; add that section, or write ack = stored"
                } else {
                    ""
                }
            guard !why.isEmpty else { continue }
            errors.append(
                ConfigurationNote(
                    file: file, line: seen[Position(section: .band(band.address), key: "ack")], key: "ack",
                    message: why))
        }
    }

    // MARK: sections

    private mutating func section(of line: ConfigurationLine) -> Section {
        switch line.section {
        case "gateway": return .gateway
        case "bands": return .bands
        case "time": return .time
        case "upload": return .upload
        case "storage": return .storage
        case "metrics": return .metrics
        case "":
            if !line.key.isEmpty { refuse(line, "stands before any section; put it under [gateway]") }
            return .unknown
        default: break
        }
        let words = line.section.split(whereSeparator: { $0 == " " || $0 == "\t" })
        guard words.first == "band" else {
            if line.key.isEmpty {
                warn(
                    line,
                    "unknown section [\(line.section)]; known are gateway, bands, band ADDRESS, time, upload, storage and "
                        + "metrics"
                )
            }
            return .unknown
        }
        if words.count == 2, let address = BluetoothAddress(words[1]) { return .band(address) }
        if line.key.isEmpty {
            let isAny = words.count == 2 && words[1].lowercased() == "any"
            refuse(
                line,
                isAny
                    ? "bands taken in by \"any\" are observed only and have no section; name each by its address"
                    : "[\(line.section)] has no address; write it as [band F0:F1:F2:F3:F4:F5]")
        }
        return .unknown
    }

    private mutating func takeGateway(_ line: ConfigurationLine) throws(Refusal) {
        switch line.key {
        case "state_directory": configuration.stateDirectory = try Value.path(line.value)
        case "adapter": configuration.adapters = try Value.adapters(line.value)
        case "sync_interval":
            configuration.syncInterval = .seconds(
                try Value.number(line.value, in: 1...86_400, unit: "seconds, such as 900"))
        case "max_links":
            configuration.maxLinks = try Value.number(line.value, in: 1...64, unit: "how many, such as 5")
        case "restart_bluetooth": configuration.restartsBluetooth = try Value.flag(line.value)
        case "log_level":
            guard let level = LogDetail(rawValue: line.value) else {
                throw Refusal(
                    "\(Value.quoted(line.value)) is no level; "
                        + "write one of \(LogDetail.allCases.map(\.rawValue).joined(separator: ", "))")
            }
            configuration.logLevel = level
        default:
            warnUnknown(
                line,
                known: "state_directory, adapter, sync_interval, max_links, restart_bluetooth, log_level")
        }
    }

    private mutating func takeBands(_ line: ConfigurationLine) throws(Refusal) {
        guard line.key == "adopt" else { return warnUnknown(line, known: "adopt") }
        let words = line.value.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" })
        guard !words.isEmpty else {
            throw Refusal("no address; write addresses or \"any\", or remove the line")
        }
        let names = words.map { word in
            let isQuoted = word.count > 1 && word.first == "\"" && word.last == "\""
            return isQuoted ? word.dropFirst().dropLast() : word
        }
        for word in names {
            if word == "any" {
                configuration.adoptsAny = true
            } else if let address = BluetoothAddress(word) {
                let isAlone = names.allSatisfy { BluetoothAddress($0) == address }
                name(address, at: .list(line: line.number, isAlone: isAlone))
            } else {
                throw Refusal(
                    "\(Value.quoted(word)) is no address; "
                        + "write addresses such as F0:F1:F2:F3:F4:F5 with commas between, or \"any\"")
            }
        }
    }

    private mutating func takeBand(_ address: BluetoothAddress, _ line: ConfigurationLine) throws(Refusal) {
        let index = name(address, at: nil)
        if case .section(let lines)? = configuration.bands[index].places.last {
            configuration.bands[index].places.removeLast()
            configuration.bands[index].places.append(.section(lines.lowerBound...line.number))
        }
        switch line.key {
        case "mode":
            guard let mode = BandMode(rawValue: line.value) else {
                throw Refusal(
                    "\(Value.quoted(line.value)) is no mode; write own (ack, so that the band frees its memory) "
                        + "or observe (never ack)")
            }
            configuration.bands[index].mode = mode
        case "ack":
            guard let ack = AckPolicy(rawValue: line.value) else {
                throw Refusal(
                    "\(Value.quoted(line.value)) is no time to ack; write stored (when it is stored here) or upload "
                        + "(when the server has confirmed it)")
            }
            configuration.bands[index].ack = ack
        case "device_id":
            guard let device = DeviceID(line.value) else {
                throw Refusal(
                    "\(Value.quoted(line.value)) can't be an id; "
                        + "write 1 to 64 of the characters A-Z a-z 0-9 _ . -")
            }
            configuration.bands[index].device = device
        case "name": configuration.bands[index].name = try Value.label(line.value)
        default: warnUnknown(line, known: "mode, ack, device_id, name")
        }
    }

    private mutating func takeTime(_ line: ConfigurationLine) throws(Refusal) {
        guard line.key == "trust" else { return warnUnknown(line, known: "trust") }
        switch line.value {
        case "auto": configuration.trustsHostClock = false
        case "always": configuration.trustsHostClock = true
        default:
            throw Refusal(
                "\(Value.quoted(line.value)) is no way to trust the clock; write auto (as the kernel says it is set) "
                    + "or always")
        }
    }

    private mutating func takeMetrics(_ line: ConfigurationLine) throws(Refusal) {
        guard line.key == "listen" else { return warnUnknown(line, known: "listen") }
        configuration.metrics = try MetricsAddress.read(line.value)
    }

    private mutating func takeUpload(_ line: ConfigurationLine) throws(Refusal) {
        guard try upload.take(line.key, line.value) else {
            return warnUnknown(line, known: UploadSection.keys.joined(separator: ", "))
        }
    }

    private mutating func takeStorage(_ line: ConfigurationLine) throws(Refusal) {
        switch line.key {
        case "free_space_floor":
            configuration.storage.freeSpaceFloor = Int64(
                try Value.number(line.value, in: 0...1_000_000_000_000, unit: "bytes, such as 67108864"))
        case "keep_days":
            let days =
                line.value == "never"
                ? 0 : try Value.number(line.value, in: 0...36_500, unit: "days, such as 365, or never")
            configuration.storage.keepDays = days == 0 ? nil : days
        default: warnUnknown(line, known: "free_space_floor, keep_days")
        }
    }

    private mutating func finishUpload() {
        guard let uploadLine else { return }
        let result = upload.finish { seen[Position(section: .upload, key: $0)] }
        configuration.upload = result.settings
        for missing in result.missing {
            let line = missing.besides.flatMap { seen[Position(section: .upload, key: $0)] } ?? uploadLine
            errors.append(
                ConfigurationNote(file: file, line: line, key: missing.key, message: missing.message))
        }
    }

    // MARK: notes

    /// The band's place in the list; a band that is named twice is one band.
    @discardableResult
    private mutating func name(_ address: BluetoothAddress, at place: BandPlace?) -> Int {
        let index =
            configuration.bands.firstIndex { $0.address == address }
            ?? {
                configuration.bands.append(ConfiguredBand(address: address))
                return configuration.bands.count - 1
            }()
        if let place, !configuration.bands[index].places.contains(place) {
            configuration.bands[index].places.append(place)
        }
        return index
    }

    private mutating func refuse(_ line: ConfigurationLine, _ message: String) {
        errors.append(note(line, message))
    }

    private mutating func warn(_ line: ConfigurationLine, _ message: String) {
        warnings.append(note(line, message + "; the line is ignored"))
    }

    private mutating func warnUnknown(_ line: ConfigurationLine, known: String) {
        warn(line, "unknown key in [\(line.section)], which has \(known)")
    }

    private func note(_ line: ConfigurationLine, _ message: String) -> ConfigurationNote {
        let key = line.key.isEmpty ? nil : line.key
        return ConfigurationNote(file: file, line: line.number, key: key, message: message)
    }
}
