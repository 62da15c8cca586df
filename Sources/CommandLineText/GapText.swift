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

/// `bandferry gaps`: for people who want to know when nothing was measured, and whether it is lost.
public struct GapText {
    private let gaps: [BandGap]
    private let bands: [BandStatus]

    /// The order of `gaps` is kept; `bands` have the names to show.
    public init(_ gaps: [BandGap], bands: [BandStatus]) {
        self.gaps = gaps
        self.bands = bands
    }

    /// With `all`, those that have healed are listed as well.
    public func rendered(all: Bool, times: LocalTimes, terminal: Terminal) -> String {
        let terminal = terminal.forProse
        let open = gaps.filter { $0.gap.healedAt == nil }
        let healed = gaps.filter { $0.gap.healedAt != nil }
        var parts = byBand(open).map { device, gaps in
            let blocks = gaps.map { Self.block($0, times: times, width: terminal.width) }
            return ([terminal.bold(title(device))] + blocks).joined(separator: "\n\n")
        }
        if open.isEmpty {
            let now = healed.isEmpty ? "No gaps" : "No gaps any more"
            parts.append(
                wrapped(
                    "\(now): every record that was seen on a band is here.", width: terminal.width, indent: ""
                ))
        }
        if !healed.isEmpty {
            parts.append(
                all
                    ? healedList(healed, times: times, terminal: terminal)
                    : wrapped(
                        "\(counted(healed.count, "gap")) healed: the records came after all. 'bandferry gaps --all' lists "
                            + "\(healed.count == 1 ? "it" : "them").", width: terminal.width, indent: ""))
        }
        if !open.isEmpty || all && !healed.isEmpty {
            parts.append(wrapped("Times are those of \(times.zone).", width: terminal.width, indent: ""))
        }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func block(_ gap: Gap, times: LocalTimes, width: Int) -> String {
        let sentence = GapSentence(gap: gap, times: times)
        let words = GapWords(gap.cause)
        let details = [sentence.records, "\(words.why) \(words.outlook)", "What to do: \(words.remedy)"]
        return
            ([wrapped(sentence.period, width: width, indent: "  ")]
            + details.map { wrapped($0, width: width, indent: "    ") }).joined(separator: "\n")
    }

    private func healedList(_ healed: [BandGap], times: LocalTimes, terminal: Terminal) -> String {
        let lines = byBand(healed).flatMap { device, gaps in
            [wrapped(title(device), width: terminal.width, indent: "  ")]
                + gaps.map {
                    wrapped(
                        GapSentence(gap: $0, times: times).healing, width: terminal.width, indent: "    ")
                }
        }
        return ([terminal.bold("Healed")] + lines).joined(separator: "\n")
    }

    private func byBand(_ gaps: [BandGap]) -> [(DeviceID, [Gap])] {
        var order: [DeviceID] = []
        var groups: [DeviceID: [Gap]] = [:]
        for entry in gaps {
            if groups[entry.device] == nil { order.append(entry.device) }
            groups[entry.device, default: []].append(entry.gap)
        }
        return order.map { ($0, groups[$0] ?? []) }
    }

    private func title(_ device: DeviceID) -> String { bandTitle(device, in: bands) }

    // MARK: JSON

    public var json: JSONText {
        .array(
            gaps.map { entry in
                let gap = entry.gap
                let band = bands.first { $0.device == entry.device }
                return .object([
                    ("device_id", .string(entry.device.text)),
                    ("address", .optional(band) { .string($0.address.description) }),
                    ("name", .optional(band?.name) { .string($0) }), ("ring", .string(gap.ring.description)),
                    ("first_seq", .number(gap.firstSeq)),
                    ("last_seq", .optional(gap.lastSeq) { .number($0) }),
                    ("after", StatusText.time(gap.after)), ("before", StatusText.time(gap.before)),
                    ("cause", .string(gap.cause.rawValue)), ("can_heal", .bool(GapWords(gap.cause).canHeal)),
                    ("healed_at", StatusText.time(gap.healedAt)),
                ])
            })
    }
}

/// `F0:F1:F2:F3:F4:F5 (Anna)`; the device id of a band that is not known by address.
func bandTitle(_ device: DeviceID, in bands: [BandStatus]) -> String {
    guard let band = bands.first(where: { $0.device == device }) else { return device.text }
    return printable(band.name.map { "\(band.address) (\($0))" } ?? band.address.description)
}
