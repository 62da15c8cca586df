/// A number with one decimal, kept as an integer so that it is rounded once: `67.2`, and `67` when it is whole.
public struct Tenths: Hashable, Comparable, Sendable {
    public var tenths: Int

    public init(tenths: Int) { self.tenths = tenths }

    /// `dividend / divisor`, rounded to one decimal, half away from zero. The divisor is above 0.
    public init(_ dividend: Int64, over divisor: Int64) {
        let doubled = dividend.magnitude.multipliedReportingOverflow(by: 20)
        guard !doubled.overflow, divisor > 0 else {
            // Beyond what can be rounded exactly, and still not beyond what can be said.
            let tens = divisor > 0 ? (dividend / divisor).multipliedReportingOverflow(by: 10) : (0, false)
            self.init(tenths: tens.1 ? (dividend < 0 ? .min : .max) : Int(tens.0))
            return
        }
        let rounded = (doubled.partialValue + divisor.magnitude) / (2 * divisor.magnitude)
        self.init(tenths: (dividend < 0 ? -1 : 1) * Int(clamping: rounded))
    }

    public static func < (left: Self, right: Self) -> Bool { left.tenths < right.tenths }

    public var value: Double { Double(tenths) / 10 }
}

extension Tenths: CustomStringConvertible {
    public var description: String {
        let (whole, tenth) = tenths.magnitude.quotientAndRemainder(dividingBy: 10)
        return (tenths < 0 ? "-" : "") + "\(whole)" + (tenth == 0 ? "" : ".\(tenth)")
    }
}

extension Tenths: Codable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        let value = try container.decode(Double.self) * 10
        guard let tenths = Int(exactly: value.rounded()) else {
            throw DecodingError.dataCorruptedError(in: container, debugDescription: "out of range")
        }
        self.tenths = tenths
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        if tenths % 10 == 0 {
            try container.encode(tenths / 10)
        } else {
            try container.encode(value)
        }
    }
}
