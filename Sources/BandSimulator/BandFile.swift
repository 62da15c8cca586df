import BandModel
import BandProfile
import FoundationEssentials
import Glibc

/// What outlives a restart: the band's flash, and what BlueZ keeps of it in its own storage.
struct StoredBand: Codable {
    var band: SimulatedBand
    /// Of each host, in the order of their buses.
    var hosts: [HostStorage] = []

    init(band: SimulatedBand) { self.band = band }

    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        band = try container.decode(SimulatedBand.self, forKey: .band)
        // A file from before bands had more than one host: every host finds a stranger.
        hosts = try container.decodeIfPresent([HostStorage].self, forKey: .hosts) ?? []
    }
}

/// What the BlueZ of one host keeps of a band.
struct HostStorage: Codable {
    var isKnown = false
    var isTrusted = false
    var isPaired = false
    /// The band has forgotten the keys since; nil = it has them.
    var lostKeys: Bool?
}

/// One band's state file, replaced as a whole: a kill leaves the old one or the new one.
struct BandFile {
    let path: String

    init(directory: String, address: BluetoothAddress) {
        path = directory + "/" + address.digits + ".json"
    }

    static func prepare(directory: String) throws(SimulatorError) {
        guard mkdir(directory, 0o755) == 0 || errno == EEXIST else {
            throw SimulatorError(
                "state directory \(directory) can't be made: \(String(cString: strerror(errno)))")
        }
    }

    /// Whose state files lie in a directory, in order.
    static func addresses(in directory: String) throws(SimulatorError) -> [BluetoothAddress] {
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: directory) else {
            throw SimulatorError("state directory \(directory) can't be read")
        }
        return names.compactMap { name -> BluetoothAddress? in
            guard name.hasSuffix(".json"), name.utf8.count == 17 else { return nil }
            return UInt64(name.prefix(12), radix: 16).map(BluetoothAddress.init(bits:))
        }.sorted()
    }

    /// Nil when there is none yet.
    func load() throws(SimulatorError) -> StoredBand? {
        guard access(path, F_OK) == 0 else { return nil }
        do {
            return try JSONDecoder().decode(StoredBand.self, from: Data(contentsOf: URL(filePath: path)))
        } catch {
            throw SimulatorError("state file \(path) can't be read: \(error); remove it to start a new band")
        }
    }

    func save(_ stored: StoredBand) throws(SimulatorError) {
        let temporary = path + ".new"
        do {
            try JSONEncoder().encode(stored).write(to: URL(filePath: temporary))
        } catch {
            throw SimulatorError("state file \(temporary) can't be written: \(error)")
        }
        guard rename(temporary, path) == 0 else {
            throw SimulatorError("state file \(path) can't be replaced: \(String(cString: strerror(errno)))")
        }
    }
}
