import IngestAPI
import Trends

/// What one civil day of a device comes to: of each type, for whoever wore it and for each wearer.
struct DeviceDay: Equatable, Sendable {
    struct Key: Hashable, Sendable {
        let type: APISampleType
        /// Nil = all samples of the device, whoever wore it.
        let person: OpaqueID?
    }

    private(set) var days: [Key: TrendDay] = [:]

    var isEmpty: Bool { days.isEmpty }
    var persons: Set<OpaqueID> { Set(days.keys.compactMap(\.person)) }

    subscript(type: APISampleType, person: OpaqueID?) -> TrendDay? {
        get { days[Key(type: type, person: person)] }
        set { days[Key(type: type, person: person)] = newValue }
    }
}
