import Conditions
import GatewayModel

/// `bandferry status` and `bandferry bands`.
public enum StatusText {
    public static func rendered(_ status: GatewayStatus, now: Timestamp, terminal: Terminal) -> String {
        var parts = [head(status, now: now, terminal: terminal)]
        if status.bands.isEmpty {
            parts.append(
                "No bands yet. 'bandferry scan' shows those in range, 'bandferry adopt ADDRESS' takes one in."
            )
        } else {
            var table = TextTable([
                .init("BAND"), .init("MODE"), .init("MTU", right: true), .init("LAST CONTACT"),
                .init("BATTERY", right: true), .init("FIRMWARE"), .init("NEWEST RECORD"), .init("HISTORY"),
                .init("STORED", right: true),
                .init("PENDING", right: true),
            ])
            for band in status.bands {
                let text = BandText(band: band, now: now)
                table.add([
                    text.title, text.mode, text.mtu, text.contact, text.battery, text.firmware, text.newest,
                    text.history,
                    grouped(band.stored), grouped(band.pending),
                ])
            }
            parts.append(table.rendered(for: terminal))
        }
        let notes = gatewayNotes(status, now: now).map { $0.rendered(subject: nil, for: terminal) }
        let bandNotes = status.bands.flatMap { band in
            BandText(band: band, now: now).notes.map {
                $0.rendered(subject: band.name ?? band.address.description, for: terminal)
            }
        }
        if !(notes + bandNotes).isEmpty { parts.append((notes + bandNotes).joined(separator: "\n")) }
        return parts.joined(separator: "\n\n") + "\n"
    }

    private static func gatewayNotes(_ status: GatewayStatus, now: Timestamp) -> [Note] {
        let problems = (status.running ? [] : [Problem(.notRunning)]) + status.problems
        return problems.map { Note($0, now: now) }
    }

    private static func head(_ status: GatewayStatus, now: Timestamp, terminal: Terminal) -> String {
        let state = status.running ? "running" : "not running"
        var lines = [
            "\(terminal.bold("bandferryd")) \(printable(status.version)), \(state), "
                + "state in \(printable(status.stateDirectory))"
        ]
        if let url = status.uploadURL {
            // Without the daemon the time of the last upload is not known.
            let last = status.running || status.lastUpload != nil
            let ago = last ? ", last \(TimeText.ago(status.lastUpload, now: now))" : ""
            lines.append("Uploads to \(printable(url))\(ago).")
        } else {
            lines.append("No server is configured: samples are kept here only.")
        }
        return lines.joined(separator: "\n")
    }

    /// The bands and where each is known from.
    public static func bands(_ bands: [BandStatus], now: Timestamp, terminal: Terminal) -> String {
        guard !bands.isEmpty else {
            return
                "No bands yet. 'bandferry scan' shows those in range, 'bandferry adopt ADDRESS' takes one in.\n"
        }
        var table = TextTable([
            .init("BAND"), .init("DEVICE ID"), .init("MODE"), .init("NAMED IN"), .init("LAST CONTACT"),
        ])
        for band in bands {
            let text = BandText(band: band, now: now)
            table.add([
                text.title, band.device.text, text.mode,
                band.configured ? "configuration" : "state directory",
                text.contact,
            ])
        }
        return table.rendered(for: terminal) + "\n"
    }

    // MARK: JSON

    public static func json(_ status: GatewayStatus) -> JSONText {
        .object([
            ("version", .string(status.version)), ("running", .bool(status.running)),
            ("state_directory", .string(status.stateDirectory)),
            ("upload_url", .optional(status.uploadURL) { .string($0) }),
            ("last_upload", time(status.lastUpload)),
            ("problems", .array(status.problems.map(json))), ("bands", .array(status.bands.map(json))),
        ])
    }

    public static func json(_ band: BandStatus) -> JSONText {
        .object([
            ("address", .string(band.address.description)), ("device_id", .string(band.device.text)),
            ("name", .optional(band.name) { .string($0) }), ("mode", .string(band.mode.rawValue)),
            ("ack", .string(band.ack.rawValue)),
            ("configured", .bool(band.configured)), ("adopted", .bool(band.adopted)),
            ("connected", .bool(band.connected)), ("syncing", .bool(band.syncing)),
            ("mtu", .optional(band.mtu) { .number($0) }), ("last_contact", time(band.lastContact)),
            ("battery_percent", .optional(band.battery) { .number($0) }),
            ("firmware", .optional(band.firmware) { .string($0) }),
            ("ring", .optional(band.ring) { .string($0.description) }),
            ("newest_seq", .optional(band.newestSeq) { .number($0) }),
            ("oldest_seq", .optional(band.oldestSeq) { .number($0) }),
            ("capacity", .optional(band.capacity) { .number($0) }),
            ("newest_recorded_at", time(band.newestRecordedAt)),
            ("recording", .string(band.recording.rawValue)),
            ("next_seq", .optional(band.nextSeq) { .number($0) }), ("stored", .number(band.stored)),
            ("pending", .number(band.pending)), ("quarantined", .number(band.quarantined)),
            ("conflicts", .number(band.conflicts)), ("undecodable", .number(band.undecodable)),
            ("gaps", .number(band.gaps)), ("lease", .optional(band.lease, json)),
            ("problem", .optional(band.problem, json)),
        ])
    }

    static func json(_ lease: BandLease) -> JSONText {
        .object([
            ("ours", .bool(lease.isOurs)), ("holder", .string(lease.holder)), ("until", time(lease.end)),
        ])
    }

    static func json(_ problem: Problem) -> JSONText {
        .object([
            ("code", .string(problem.code)), ("severity", .string(problem.severity.rawValue)),
            ("text", .string(problem.text)),
            ("remedy", .string(problem.remedy)),
            ("since", time(problem.since)),
        ])
    }

    static func time(_ time: Timestamp?) -> JSONText { .optional(time) { .string(TimeText.exact($0)) } }
}
