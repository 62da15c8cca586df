import BandProfile
import DBus

/// Who is discovering, and with which filter. A session belongs to a D-Bus connection and ends with it.
struct DiscoverySessions {
    struct Filter {
        var uuids: [String] = []
        var rssi: Int?
        var pattern: String?
        var duplicates = false

        /// Nil = BlueZ refuses it: an unknown key, a wrong type, or RSSI and Pathloss together.
        init?(_ properties: BusProperties) {
            for (key, value) in properties {
                switch (key, value) {
                case ("UUIDs", .array("s", _)): uuids = (value.strings ?? []).map { $0.lowercased() }
                case ("RSSI", .int16(let limit)): rssi = Int(limit)
                case ("Pathloss", .uint16): break
                case ("Transport", .string(let transport)):
                    guard ["auto", "bredr", "le"].contains(transport) else { return nil }
                case ("DuplicateData", .bool(let flag)): duplicates = flag
                case ("Discoverable", .bool): break
                case ("Pattern", .string(let text)): pattern = text
                default: return nil
                }
            }
            if properties["RSSI"] != nil, properties["Pathloss"] != nil { return nil }
        }

        func admits(uuid: String, rssi: Int, name: String, address: String) -> Bool {
            if !uuids.isEmpty, !uuids.contains(uuid) { return false }
            if let limit = self.rssi, rssi < limit { return false }
            if let pattern, !name.hasPrefix(pattern), !address.hasPrefix(pattern) { return false }
            return true
        }
    }

    var filters: [String: Filter] = [:]
    /// Bus names in the order of their StartDiscovery.
    var clients: [String] = []

    var isActive: Bool { !clients.isEmpty }
    /// Without any filter RSSI is signalled only when it moved by 8 dB.
    var isFiltered: Bool { clients.contains { filters[$0] != nil } }

    func admits(uuid: String, rssi: Int, name: String, address: String) -> Bool {
        clients.contains { client in
            filters[client]?.admits(uuid: uuid, rssi: rssi, name: name, address: address) ?? true
        }
    }
}

/// Agents, one a connection, and the default one.
struct AgentRegistry {
    struct Agent {
        var client: String
        var path: String
        var capability: String
    }

    private(set) var agents: [Agent] = []
    private var chosen: String?

    static let capabilities = [
        "", "DisplayOnly", "DisplayYesNo", "KeyboardOnly", "NoInputNoOutput", "KeyboardDisplay",
    ]

    var isEmpty: Bool { agents.isEmpty }
    /// The one that was asked for last, else the first that came.
    var standard: Agent? { agents.first { $0.client == chosen } ?? agents.first }

    func agent(of client: String) -> Agent? { agents.first { $0.client == client } }
    mutating func add(_ agent: Agent) { agents.append(agent) }
    mutating func choose(_ client: String) { chosen = client }
    mutating func remove(_ client: String) {
        agents.removeAll { $0.client == client }
        if chosen == client { chosen = nil }
    }
}
