/// A metric with its samples, as OpenMetrics 1.0 has them.
public struct MetricFamily: Equatable, Sendable {
    public enum Kind: Equatable, Sendable {
        case gauge
        case counter
        case histogram
        /// One sample with the value 1, which says something in its labels.
        case info
    }

    public var name: String
    public var kind: Kind
    /// `seconds`, `bytes`; empty for a count. The name ends with it.
    public var unit: String
    public var help: String
    public var samples: [Sample]

    public struct Sample: Equatable, Sendable {
        public enum Value: Equatable, Sendable {
            case integer(Int64)
            /// Of a thousand: milliseconds as seconds.
            case thousandths(Int64)
            case histogram(Histogram)
        }

        /// In the order in which they are written.
        public var labels: [(name: String, value: String)]
        public var value: Value

        public init(_ labels: [(name: String, value: String)] = [], _ value: Value) {
            self.labels = labels
            self.value = value
        }

        public static func == (left: Self, right: Self) -> Bool {
            left.value == right.value && left.labels.map(\.name) == right.labels.map(\.name)
                && left.labels.map(\.value) == right.labels.map(\.value)
        }
    }

    public init(_ name: String, _ kind: Kind, unit: String = "", help: String, _ samples: [Sample]) {
        self.name = name
        self.kind = kind
        self.unit = unit
        self.help = help
        self.samples = samples
    }

    /// One sample without labels.
    public init(_ name: String, _ kind: Kind, unit: String = "", help: String, _ value: Sample.Value) {
        self.init(name, kind, unit: unit, help: help, [Sample([], value)])
    }
}
