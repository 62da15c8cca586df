/// Random bits from outside, so that a test can replay a run.
struct InjectedRandom: RandomNumberGenerator {
    let bits: @Sendable () -> UInt64

    func next() -> UInt64 { bits() }

    /// A version 4 UUID, RFC 9562.
    func uuid() -> String {
        let high = next() & 0xffff_ffff_ffff_0fff | 0x4000
        let low = next() & 0x3fff_ffff_ffff_ffff | 0x8000_0000_0000_0000
        let digits = Array(Self.hexadecimal(high) + Self.hexadecimal(low))
        return [0..<8, 8..<12, 12..<16, 16..<20, 20..<32].map { String(digits[$0]) }.joined(separator: "-")
    }

    private static func hexadecimal(_ value: UInt64) -> String {
        let digits = String(value, radix: 16)
        return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }
}
