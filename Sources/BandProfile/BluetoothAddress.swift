/// A Bluetooth device address: six octets, most significant first, as BlueZ prints it (`F0:F1:F2:F3:F4:F5`).
public struct BluetoothAddress: Hashable, Sendable, Comparable, CustomStringConvertible {
    /// 48 bits, the first printed octet in the highest byte.
    public let bits: UInt64

    public init(bits: UInt64) {
        self.bits = bits & 0xffff_ffff_ffff
    }

    /// Reads `F0:F1:F2:F3:F4:F5` (either case); nil for anything else.
    public init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 6 else { return nil }
        var bits: UInt64 = 0
        for part in parts {
            guard part.utf8.count == 2, part.utf8.allSatisfy(Self.isHexDigit),
                let octet = UInt8(part, radix: 16)
            else { return nil }
            bits = bits << 8 | UInt64(octet)
        }
        self.bits = bits
    }

    /// The six octets, first printed first.
    public var octets: [UInt8] {
        (0..<6).map { UInt8(truncatingIfNeeded: bits >> (40 - 8 * UInt64($0))) }
    }

    public var description: String { octets.map(hexadecimal).joined(separator: ":") }

    /// Twelve upper-case hex digits without separators, as device ids use them.
    public var digits: String { octets.map(hexadecimal).joined() }

    public static func < (left: Self, right: Self) -> Bool { left.bits < right.bits }

    private static func isHexDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"),
            UInt8(ascii: "A")...UInt8(ascii: "F"):
            true
        default: false
        }
    }

    private func hexadecimal(_ octet: UInt8) -> String {
        let text = String(octet, radix: 16, uppercase: true)
        return text.utf8.count == 1 ? "0" + text : text
    }
}
