import IngestAPI

// How names of the API are kept in the tables. Numbers are never reused.

extension APISampleType {
    init?(code: Int) {
        guard let type = Self.allCases.first(where: { $0.code == code }) else { return nil }
        self = type
    }

    var code: Int {
        switch self {
        case .heartRate: 1
        case .steps: 2
        case .spo2: 3
        case .sleepStage: 4
        }
    }
}

extension APIProvenance {
    init(code: Int) { self = Self.allCases.first { $0.code == code } ?? .unknown }

    var code: Int {
        switch self {
        case .unknown: 0
        case .device: 1
        case .user: 2
        }
    }
}

/// A ring's eight hex digits as a number: the order of the numbers is that of the texts.
enum RingCode {
    /// 0 for what is not a ring; callers have checked.
    static func number(_ ring: some StringProtocol) -> Int64 { Int64(ring, radix: 16) ?? 0 }

    static func text(_ number: Int64) -> String {
        let digits = String(UInt32(truncatingIfNeeded: number), radix: 16)
        return String(repeating: "0", count: 8 - digits.utf8.count) + digits
    }
}
