import GatewayModel

/// Samples as text for other programs: one line each, the same columns in both formats.
public enum ExportFormat: String, Sendable, CaseIterable {
    case jsonl
    case csv

    public static let columns = [
        "device_id", "ring", "type", "seq", "value", "recorded_at", "tz_offset_min", "version", "provenance",
        "band_time_ms", "clock_id", "flags", "time_bound_ms", "time_uncertain", "offset_source", "person",
    ]

    /// What stands before the first sample, newline included.
    public var header: String {
        switch self {
        case .jsonl: ""
        case .csv: Self.columns.joined(separator: ",") + "\n"
        }
    }

    /// One line, newline included. Only the id of a person can hold a comma or a quote; nothing holds a line break.
    public func line(_ sample: Sample) -> String {
        let offset = sample.offsetMinutes.map(String.init)
        let bound = sample.timeBoundMilliseconds.map(String.init)
        let recordedAt = TimeText.exact(sample.recordedAt)
        switch self {
        case .jsonl:
            return
                "{\"device_id\":\"\(sample.device)\",\"ring\":\"\(sample.ring)\",\"type\":\"\(sample.type.name)\","
                + "\"seq\":\(sample.seq),\"value\":\(sample.value),\"recorded_at\":\"\(recordedAt)\","
                + "\"tz_offset_min\":\(offset ?? "null"),\"version\":\(sample.version),"
                + "\"provenance\":\"\(sample.provenance.name)\",\"band_time_ms\":\(sample.bandTimeMilliseconds),"
                + "\"clock_id\":\(sample.clockID),\"flags\":\(sample.flags),"
                + "\"time_bound_ms\":\(bound ?? "null"),\"time_uncertain\":\(sample.timeUncertain),"
                + "\"offset_source\":\(sample.offsetSource.map { "\"\($0.name)\"" } ?? "null"),"
                + "\"person\":\(JSONText.optional(sample.wearer.id) { .string($0) }.text)}\n"
        case .csv:
            return "\(sample.device),\(sample.ring),\(sample.type.name),\(sample.seq),\(sample.value),"
                + "\(recordedAt),\(offset ?? ""),\(sample.version),\(sample.provenance.name),"
                + "\(sample.bandTimeMilliseconds),\(sample.clockID),\(sample.flags),"
                + "\(bound ?? ""),\(sample.timeUncertain),\(sample.offsetSource?.name ?? ""),"
                + "\(sample.wearer.id.map(Self.field) ?? "")\n"
        }
    }

    /// RFC 4180: what holds a comma or a quote stands in quotes, with its own quotes doubled.
    private static func field(_ text: String) -> String {
        guard text.contains(where: { $0 == "," || $0 == "\"" }) else { return text }
        return "\"" + text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\"\"")
            + "\""
    }
}

extension Wearer {
    fileprivate var id: String? { if case .person(let person) = self { person.text } else { nil } }
}
