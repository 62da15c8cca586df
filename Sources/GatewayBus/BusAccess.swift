import DBus
import GatewayModel

/// Reading a value of a known type; nil when absent or of another type.
extension BusProperties {
    func string(_ key: String) -> String? { self[key]?.text }
    func bool(_ key: String) -> Bool? { self[key]?.flag }
    func integer(_ key: String) -> Int? { self[key]?.integer }
    func dictionary(_ key: String) -> BusProperties? { self[key]?.properties }

    func timestamp(_ key: String) -> Timestamp? {
        integer(key).map { Timestamp(milliseconds: Int64($0)) }
    }

    /// `aa{sv}`; empty for another type.
    func list(_ key: String) -> [BusProperties] { self[key]?.elements?.compactMap(\.properties) ?? [] }
}

/// What PropertiesChanged has to say to get from one state to the next.
struct PropertyChange: Equatable {
    var changed: BusProperties
    /// In the order of the names.
    var invalidated: [String]

    init(from old: BusProperties, to new: BusProperties) {
        changed = new.filter { old[$0.key] != $0.value }
        invalidated = old.keys.filter { new[$0] == nil }.sorted()
    }

    var isEmpty: Bool { changed.isEmpty && invalidated.isEmpty }
}
