/// UUIDs and limits of the Band History service. Band History Profile 1, "Services".
public enum BandHistory {
    public static let service = "bf1e0001-9c4e-4f6b-8d2a-5e7a10b3c6f4"
    public static let info = "bf1e0002-9c4e-4f6b-8d2a-5e7a10b3c6f4"
    public static let clock = "bf1e0003-9c4e-4f6b-8d2a-5e7a10b3c6f4"
    public static let controlPoint = "bf1e0004-9c4e-4f6b-8d2a-5e7a10b3c6f4"
    public static let historyData = "bf1e0005-9c4e-4f6b-8d2a-5e7a10b3c6f4"
    public static let ack = "bf1e0006-9c4e-4f6b-8d2a-5e7a10b3c6f4"

    public static let profileVersion: UInt8 = 1
    /// The ATT MTU that carries fifteen records: 3 bytes of ATT, 4 of header, 15 x 16.
    public static let preferredMTU = 247
    public static let recordsPerNotification = 15
    public static let recordSize = 16
    public static let headerSize = 4

    /// Records that fit one notification at an ATT MTU, 1 to 15.
    public static func recordsPerNotification(mtu: Int) -> Int {
        max(1, min(recordsPerNotification, (mtu - 3 - headerSize) / recordSize))
    }
}

/// Identifies one format of a band's ring; random, not 0. Printed as 8 lower-case hex digits.
public struct RingID: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
    public let rawValue: UInt32

    public init(rawValue: UInt32) { self.rawValue = rawValue }

    /// Reads exactly 8 hex digits in lower case.
    public init?(_ text: some StringProtocol) {
        guard text.utf8.count == 8, text.allSatisfy({ $0.isHexDigit && !$0.isUppercase }),
            let value = UInt32(text, radix: 16)
        else { return nil }
        rawValue = value
    }

    public var description: String {
        let digits = String(rawValue, radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
