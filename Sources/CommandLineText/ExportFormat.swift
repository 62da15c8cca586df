import GatewayModel

/// Samples as text for other programs: one line each, the same columns in both formats.
public enum ExportFormat: String, Sendable, CaseIterable {
    case jsonl
    case csv

    public static let columns = [
        "device_id", "ring", "type", "seq", "value", "recorded_at", "tz_offset_min", "version", "provenance",
        "band_time_ms", "clock_id", "flags",
    ]

    /// What stands before the first sample, newline included.
    public var header: String {
        switch self {
        case .jsonl: ""
        case .csv: Self.columns.joined(separator: ",") + "\n"
        }
    }

    /// One line, newline included. No field can hold a comma, a quote or a line break: ids, names and numbers only.
    public func line(_ sample: Sample) -> String {
        let offset = sample.offsetMinutes.map(String.init)
        let recordedAt = TimeText.exact(sample.recordedAt)
        switch self {
        case .jsonl:
            return
                "{\"device_id\":\"\(sample.device)\",\"ring\":\"\(sample.ring)\",\"type\":\"\(sample.type.name)\","
                + "\"seq\":\(sample.seq),\"value\":\(sample.value),\"recorded_at\":\"\(recordedAt)\","
                + "\"tz_offset_min\":\(offset ?? "null"),\"version\":\(sample.version),"
                + "\"provenance\":\"\(sample.provenance.name)\",\"band_time_ms\":\(sample.bandTimeMilliseconds),"
                + "\"clock_id\":\(sample.clockID),\"flags\":\(sample.flags)}\n"
        case .csv:
            return "\(sample.device),\(sample.ring),\(sample.type.name),\(sample.seq),\(sample.value),"
                + "\(recordedAt),\(offset ?? ""),\(sample.version),\(sample.provenance.name),"
                + "\(sample.bandTimeMilliseconds),\(sample.clockID),\(sample.flags)\n"
        }
    }
}
