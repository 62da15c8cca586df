import GatewayModel

/// `bandferry scan`.
public enum ScanText {
    /// The strongest first: the band on the table before the one in the next room.
    public static func sorted(_ bands: [SeenBand]) -> [SeenBand] {
        bands.sorted { ($0.rssi ?? .min, $1.address.bits) > ($1.rssi ?? .min, $0.address.bits) }
    }

    public static func rendered(_ bands: [SeenBand], terminal: Terminal) -> String {
        guard !bands.isEmpty else {
            return """
                No band was heard.
                What to do: wake the band or put it on its charger, bring it nearer, and disconnect it from any phone.

                """
        }
        var table = TextTable([.init("BAND"), .init("NAME"), .init("RSSI", right: true), .init("HERE")])
        for band in sorted(bands) {
            table.add([
                band.address.description, band.name ?? "", band.rssi.map { "\($0) dBm" } ?? "?",
                band.mode.map { "adopted, \($0.rawValue)" } ?? "not adopted",
            ])
        }
        var text = table.rendered(for: terminal) + "\n"
        if let first = sorted(bands).first(where: { $0.mode == nil }) {
            text += "\nTake one in with: bandferry adopt \(first.address)\n"
        }
        return text
    }

    public static func json(_ bands: [SeenBand]) -> JSONText {
        .array(
            sorted(bands).map { band in
                .object([
                    ("address", .string(band.address.description)),
                    ("name", .optional(band.name) { .string($0) }),
                    ("rssi", .optional(band.rssi) { .number($0) }),
                    ("mode", .optional(band.mode) { .string($0.rawValue) }),
                ])
            })
    }
}
