import IngestAPI

// How names of the API are kept in the tables. Numbers are never reused.

extension APISampleType {
    public init?(code: Int) {
        switch code {
        case 1: self = .heartRate
        case 2: self = .steps
        case 3: self = .spo2
        case 4: self = .sleepStage
        default: return nil
        }
    }

    public var code: Int {
        switch self {
        case .heartRate: 1
        case .steps: 2
        case .spo2: 3
        case .sleepStage: 4
        }
    }
}

extension APIProvenance {
    public init(code: Int) { self = Self.allCases.first { $0.code == code } ?? .unknown }

    public var code: Int {
        switch self {
        case .unknown: 0
        case .device: 1
        case .user: 2
        }
    }
}

/// A ring's eight hex digits as a number: the order of the numbers is that of the texts.
public enum RingCode {
    /// 0 for what is not a ring; callers have checked.
    public static func number(_ ring: some StringProtocol) -> Int64 { Int64(ring, radix: 16) ?? 0 }

    public static func text(_ number: Int64) -> String {
        let digits = String(UInt32(truncatingIfNeeded: number), radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
