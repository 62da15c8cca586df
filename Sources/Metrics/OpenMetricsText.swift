/// Writes OpenMetrics 1.0 text.
public enum OpenMetricsText {
    public static let contentType = "application/openmetrics-text; version=1.0.0; charset=utf-8"

    /// Families without a sample are left out.
    public static func rendered(_ families: [MetricFamily]) -> String {
        var text = ""
        for family in families where !family.samples.isEmpty {
            text += "# TYPE \(family.name) \(type(family.kind))\n"
            if !family.unit.isEmpty { text += "# UNIT \(family.name) \(family.unit)\n" }
            text += "# HELP \(family.name) \(escaped(family.help))\n"
            for sample in family.samples { text += lines(sample, of: family) }
        }
        return text + "# EOF\n"
    }

    private static func type(_ kind: MetricFamily.Kind) -> String {
        switch kind {
        case .gauge: "gauge"
        case .counter: "counter"
        case .histogram: "histogram"
        case .info: "info"
        }
    }

    private static func lines(_ sample: MetricFamily.Sample, of family: MetricFamily) -> String {
        switch sample.value {
        case .integer(let value): line(family, sample.labels, String(value))
        case .thousandths(let value): line(family, sample.labels, decimal(value, digits: 3))
        case .histogram(let histogram): lines(histogram, sample.labels, family.name)
        }
    }

    private static func line(
        _ family: MetricFamily, _ labels: [(name: String, value: String)], _ value: String
    )
        -> String
    {
        let suffix =
            switch family.kind {
            case .counter: "_total"
            case .info: "_info"
            case .gauge, .histogram: ""
            }
        return "\(family.name)\(suffix)\(braced(labels)) \(value)\n"
    }

    private static func lines(
        _ histogram: Histogram, _ labels: [(name: String, value: String)], _ name: String
    ) -> String {
        var text = ""
        var count: Int64 = 0
        for (bound, own) in zip(histogram.bounds, histogram.counts) {
            count += own
            text += "\(name)_bucket\(braced(labels + [("le", decimal(bound, digits: 6))])) \(count)\n"
        }
        text += "\(name)_bucket\(braced(labels + [("le", "+Inf")])) \(histogram.count)\n"
        text += "\(name)_count\(braced(labels)) \(histogram.count)\n"
        return text + "\(name)_sum\(braced(labels)) \(decimal(histogram.sum, digits: 6))\n"
    }

    private static func braced(_ labels: [(name: String, value: String)]) -> String {
        guard !labels.isEmpty else { return "" }
        return "{" + labels.map { "\($0.name)=\"\(escaped($0.value))\"" }.joined(separator: ",") + "}"
    }

    /// Label values and help alike: backslash, line feed and double quote.
    private static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\\": result += "\\\\"
            case "\n": result += "\\n"
            case "\"": result += "\\\""
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A number of so many digits behind the point, at least one of them; no rounding anywhere.
    private static func decimal(_ value: Int64, digits: Int) -> String {
        let text = String(value.magnitude)
        let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
        var fraction = padded.suffix(digits)
        while fraction.count > 1, fraction.last == "0" { fraction = fraction.dropLast() }
        return "\(value < 0 ? "-" : "")\(padded.dropLast(digits)).\(fraction)"
    }
}
