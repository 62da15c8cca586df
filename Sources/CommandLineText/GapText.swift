import GatewayModel

/// A gap with the band that it belongs to.
public struct BandGap: Equatable, Sendable {
    public var device: DeviceID
    public var gap: Gap

    public init(device: DeviceID, gap: Gap) {
        self.device = device
        self.gap = gap
    }
}

/// `bandferry gaps`.
public enum GapText {
    public static func rendered(_ gaps: [BandGap], terminal: Terminal) -> String {
        guard !gaps.isEmpty else { return "No gaps: every record that was seen on a band is here.\n" }
        var table = TextTable([
            .init("DEVICE"), .init("RING"), .init("RECORDS"), .init("BETWEEN"), .init("CAUSE"),
            .init("HEALED"),
        ])
        for entry in gaps {
            let gap = entry.gap
            table.add([
                entry.device.text, gap.ring.description, records(gap),
                "\(TimeText.short(gap.after)) - \(TimeText.short(gap.before))", cause(gap.cause),
                gap.healedAt.map { TimeText.short($0) } ?? "",
            ])
        }
        return table.rendered(for: terminal) + "\n"
    }

    /// `17 to 20 (4)`, or from one on when the end is not known.
    private static func records(_ gap: Gap) -> String {
        guard let last = gap.lastSeq else { return "\(gap.firstSeq) on" }
        let count = last >= gap.firstSeq ? UInt64(last - gap.firstSeq) + 1 : 0
        return "\(gap.firstSeq) to \(last) (\(grouped(count)))"
    }

    private static func cause(_ cause: GapCause) -> String {
        switch cause {
        case .overwritten: "overwritten before a sync"
        case .freedElsewhere: "freed by another gateway"
        case .reformatted: "the band formatted its memory"
        case .storageLost: "this gateway's storage was lost"
        case .lostByBand: "the band lost them"
        case .unreadable: "could not be read"
        }
    }

    public static func json(_ gaps: [BandGap]) -> JSONText {
        .array(
            gaps.map { entry in
                .object([
                    ("device_id", .string(entry.device.text)), ("ring", .string(entry.gap.ring.description)),
                    ("first_seq", .number(entry.gap.firstSeq)),
                    ("last_seq", .optional(entry.gap.lastSeq) { .number($0) }),
                    ("after", StatusText.time(entry.gap.after)),
                    ("before", StatusText.time(entry.gap.before)),
                    ("cause", .string(entry.gap.cause.rawValue)),
                    ("healed_at", StatusText.time(entry.gap.healedAt)),
                ])
            })
    }
}
