/// Every D-Bus error name and text that BlueZ 5.66 to 5.87 sends to a GATT client, and its kind.
///
/// The names and texts are BlueZ's interface in practice (`src/error.c`, `src/error.h`, `src/gatt-client.c`),
/// and changed between versions: a row names each.
public enum BlueZErrorTable {
    enum Text: Sendable {
        case any
        case exactly(String)
        case prefix(String)

        func matches(_ text: String) -> Bool {
            switch self {
            case .any: true
            case .exactly(let expected): text == expected
            case .prefix(let prefix): text.hasPrefix(prefix)
            }
        }
    }

    struct Row: Sendable {
        var name: String
        var text: Text
        var kind: BlueZFailureKind

        init(_ name: String, _ text: Text, _ kind: BlueZFailureKind) {
            self.name = name
            self.text = text
            self.kind = kind
        }
    }

    /// The first row that matches wins; ATT errors are read out of the text.
    public static func kind(name: String, text: String) -> BlueZFailureKind {
        if name == bluez("Failed"), let code = attributeError(in: text) { return kind(attributeError: code) }
        return rows.first { $0.name == name && $0.text.matches(text) }?.kind ?? .unknown
    }

    /// The NN of "Operation failed with ATT error: 0xNN".
    public static func attributeError(in text: String) -> UInt8? {
        let prefix = "Operation failed with ATT error: 0x"
        guard text.hasPrefix(prefix) else { return nil }
        let digits = text.dropFirst(prefix.count).prefix { $0.isHexDigit }
        guard (1...2).contains(digits.utf8.count), digits.endIndex == text.endIndex else { return nil }
        return UInt8(digits, radix: 16)
    }

    /// Bluetooth Core 5.4, Vol 3, Part F, 3.4.1.1.
    static func kind(attributeError code: UInt8) -> BlueZFailureKind {
        switch code {
        case 0x02, 0x03: .notPermitted
        case 0x05, 0x0c, 0x0f: .notPaired
        case 0x06: .unsupported
        case 0x08: .notPermitted
        // "Unlikely error": BlueZ answers this when the link dropped or the band kept silent for 30 s; the bearer is dead.
        case 0x0e: .notConnected
        case 0x80...0x9f: .applicationError(code)
        default: .attributeError(code)
        }
    }

    static func bluez(_ error: String) -> String { "org.bluez.Error." + error }
    static func freedesktop(_ error: String) -> String { "org.freedesktop.DBus.Error." + error }

    static let rows: [Row] = failedRows + bluezRows + busRows
}
