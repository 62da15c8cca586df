/// Limits and names of ingest API 1.
public enum IngestAPI {
    public static let maxSamplesPerBatch = 500
    /// Bytes of a batch after decompression.
    public static let maxBatchBytes = 1 << 20
    public static let maxSamplesPerPage = 1000
    /// Of one PUT. The API names no bound; gateways send 500.
    public static let maxGapsPerRequest = 2000
    /// The API names no bound. A gap an hour for two years; all of them fit into what a gateway reads of an answer.
    public static let maxGapsPerDevice = 20_000
    /// The API names no bound. A ring is new when a band is formatted: daily, for eleven years.
    public static let maxRingsPerDevice = 4096
    /// Of an answer that lists all that an account or a device has.
    public static let maxListBytes = 32 << 20
    /// Devices and their rings, or persons and their devices, in one answer: about as many as fit into it.
    public static let maxListEntries = 150_000
    public static let jsonContentType = "application/json"

    /// `[A-Za-z0-9_.-]{1,64}`.
    public static func isDeviceID(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy { isAlphanumeric($0) || $0 == 0x5f || $0 == 0x2e || $0 == 0x2d }
    }

    /// A band's `ring_id` as exactly 8 hex digits in lower case.
    public static func isRing(_ text: some StringProtocol) -> Bool {
        text.utf8.count == 8
            && text.utf8.allSatisfy {
                switch $0 {
                case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "f"): true
                default: false
                }
            }
    }

    /// An opaque id (person, gateway, `sync_id`): 1 to 128 bytes without control characters.
    public static func isOpaqueID(_ text: some StringProtocol) -> Bool {
        (1...128).contains(text.utf8.count) && text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x7f }
    }

    /// The spelling of an IANA zone (`Asia/Kolkata`, `Etc/GMT+5`); whether it exists is not asked.
    public static func isZoneName(_ text: some StringProtocol) -> Bool {
        (1...64).contains(text.utf8.count)
            && text.utf8.allSatisfy {
                isAlphanumeric($0) || $0 == 0x5f || $0 == 0x2f || $0 == 0x2b || $0 == 0x2d
            }
    }

    private static func isAlphanumeric(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: false
        }
    }
}
