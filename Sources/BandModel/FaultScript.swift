/// What goes wrong with a simulated band and when, read from text.
///
///     drop:0.01                 with a probability, each time
///     truncate@3                at the 3rd event of its kind
///     overwrite@100:50          the same, with an amount
///     noend                     always
///     unreadable=1234           whatever carries seq 1234
///     never-answer:WriteValue@3 the 3rd call of that method
///
/// Items are separated by commas, spaces or newlines; hyphens in names don't matter. What a chance decides follows
/// from the seed and the number of the event alone, so a run can be repeated.
public struct FaultScript: Equatable, Sendable {
    public static let none = FaultScript(text: "", faults: [])

    public let text: String
    public let faults: [Fault]
    /// Faults by the kind's place in `FaultKind.allCases`.
    private let index: [FaultKind: [Fault]]

    private init(text: String, faults: [Fault]) {
        self.text = text
        self.faults = faults
        index = Dictionary(grouping: faults, by: \.kind)
    }

    public init(_ text: String) throws(FaultScriptError) {
        var faults: [Fault] = []
        let items = text.split(whereSeparator: { $0 == "," || $0.isWhitespace })
        for (place, item) in items.enumerated() {
            var parser = FaultParser(item: item, place: place + 1)
            faults.append(try parser.parse())
        }
        self.init(text: text, faults: faults)
    }

    public static func == (left: Self, right: Self) -> Bool { left.faults == right.faults }

    public func contains(_ kind: FaultKind) -> Bool { index[kind] != nil }

    /// The pace of the stream, notifications a second; nil = as fast as the link takes them.
    public var notificationsPerSecond: Int? {
        index[.slow]?.first.flatMap { $0.amount > 0 ? Int($0.amount) : nil }
    }

    /// The fault of this kind that strikes the `count`th event, if any. Seq triggers never do.
    public func strikes(_ kind: FaultKind, count: UInt64, seed: UInt64, method: String? = nil) -> Fault? {
        guard let candidates = index[kind] else { return nil }
        for (place, fault) in candidates.enumerated() {
            if fault.method != nil, fault.method != method { continue }
            switch fault.trigger {
            case .always: return fault
            case .at(let wanted) where wanted == count: return fault
            case .probability(let probability):
                let salt = Mixer.mix(seed, kind.salt &+ UInt64(place), count)
                if Mixer.fraction(salt) < probability { return fault }
            case .at, .seq: continue
            }
        }
        return nil
    }

    /// Whether a fault of this kind is tied to a seq in `range`.
    func names(_ kind: FaultKind, in range: ClosedRange<UInt32>) -> Bool {
        guard let candidates = index[kind] else { return false }
        return candidates.contains { fault in
            if case .seq(let seq) = fault.trigger { range.contains(seq) } else { false }
        }
    }
}

extension FaultScript: Codable {
    public init(from decoder: any Decoder) throws {
        let text = try decoder.singleValueContainer().decode(String.self)
        self = try FaultScript(text)
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        try container.encode(text)
    }
}

extension FaultKind {
    /// Distinguishes the kinds' chances; stable across versions, as it comes from the name.
    fileprivate var salt: UInt64 {
        rawValue.utf8.reduce(0xcbf2_9ce4_8422_2325) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
    }
}
