import BandProfile
import GatewayModel

/// What a command that changes one thing answers in JSON: what holds from now on.
public enum ChangeText {
    /// `name` nil = none was given.
    public static func adopted(
        _ address: BluetoothAddress, _ device: DeviceID, name: String?, mode: BandMode, ack: AckPolicy
    ) -> JSONText {
        .object([
            ("address", .string(address.description)), ("device_id", .string(device.text)),
            ("name", .optional(name) { .string($0) }), ("mode", .string(mode.rawValue)),
            ("ack", .string(ack.rawValue)),
        ])
    }

    public static func forgotten(_ address: BluetoothAddress) -> JSONText {
        .object([("address", .string(address.description)), ("adopted", .bool(false))])
    }

    public static func paired(_ address: BluetoothAddress) -> JSONText {
        .object([("address", .string(address.description)), ("paired", .bool(true))])
    }

    /// As `upload status` says it.
    public static let resumed = JSONText.object([("paused", .null)])

    /// Band and person as they were named; `to` nil = until further notice.
    public static func assigned(
        _ band: String, to person: String, from: Timestamp, to: Timestamp?
    ) -> JSONText {
        .object([
            ("band", .string(band)), ("person", .string(person)), ("from", StatusText.time(from)),
            ("to", StatusText.time(to)),
        ])
    }

    public static func unassigned(_ band: String, from: Timestamp) -> JSONText {
        .object([("band", .string(band)), ("from", StatusText.time(from))])
    }

    /// `zone` nil = the entry is taken back.
    public static func zone(_ zone: String?, of person: String, from: Timestamp) -> JSONText {
        .object([
            ("person", .string(person)), ("zone", .optional(zone) { .string($0) }),
            ("from", StatusText.time(from)),
        ])
    }

    public static func removed(person: String) -> JSONText {
        .object([("person", .string(person)), ("removed", .bool(true))])
    }

    /// `keptAs`: the damaged database beside the new one; both nil after a start with an empty one.
    public static func recovered(
        in directory: String, keptAs: String?, damagedTables: [String]?
    ) -> JSONText {
        .object([
            ("state_directory", .string(directory)), ("kept_as", .optional(keptAs) { .string($0) }),
            ("damaged_tables", .optional(damagedTables) { .array($0.map { .string($0) }) }),
        ])
    }

    public static func version(_ version: String) -> JSONText { .object([("version", .string(version))]) }
}
