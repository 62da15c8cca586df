import Conditions
import GatewayModel
import RadioSchedule

/// Everything that a gateway shows of itself. No health value and no name: bands are known by device id alone, in which their
/// address stands unless the configuration gives another.
public struct GatewayMetrics: Sendable {
    public var status: GatewayStatus
    public var counts: GatewayCounts
    /// Nil while nothing runs that uses it.
    public var radio: RadioCounters?
    public var now: Timestamp
    /// Bytes; nil = not known.
    public var databaseBytes: Int64?
    public var freeBytes: Int64?

    public init(
        status: GatewayStatus, counts: GatewayCounts, radio: RadioCounters? = nil, now: Timestamp,
        databaseBytes: Int64? = nil, freeBytes: Int64? = nil
    ) {
        self.status = status
        self.counts = counts
        self.radio = radio
        self.now = now
        self.databaseBytes = databaseBytes
        self.freeBytes = freeBytes
    }

    public var text: String { OpenMetricsText.rendered(families) }

    public var families: [MetricFamily] { gateway + transfer + air + bands + upload + disk + conditions }

    private typealias Sample = MetricFamily.Sample

    // MARK: parts

    private var gateway: [MetricFamily] {
        [
            MetricFamily(
                "bandferry_build", .info, help: "Version of the gateway.",
                [Sample([("version", status.version)], .integer(1))]),
            MetricFamily(
                "bandferry_bands", .gauge, help: "Bands that the gateway takes care of.",
                .integer(Int64(adopted.count))),
            MetricFamily(
                "bandferry_bands_connected", .gauge, help: "Bands with a link now.",
                .integer(Int64(adopted.count(where: \.connected)))),
        ]
    }

    private var transfer: [MetricFamily] {
        let devices = counts.bands.keys.sorted { $0.text < $1.text }
        func counter(_ name: String, _ help: String, _ value: (GatewayCounts.Band) -> Int64) -> MetricFamily {
            MetricFamily(
                name, .counter, help: help,
                devices.map { device in
                    Sample([("device_id", device.text)], .integer(value(counts.bands[device] ?? .init())))
                })
        }
        return [
            counter("bandferry_samples", "Samples read from bands and stored.", \.samples),
            counter("bandferry_chunks", "Transactions that stored history.", \.chunks),
            counter("bandferry_connections", "Links made to bands, the first one included.", \.sessions),
            MetricFamily(
                "bandferry_commit_seconds", .histogram, unit: "seconds",
                help: "Time that a commit of history took.",
                .histogram(counts.commit)),
            MetricFamily(
                "bandferry_ack_seconds", .histogram, unit: "seconds",
                help: "Time from the taking of records to their ack, if the same session gave it.",
                .histogram(counts.ack)),
            MetricFamily(
                "bandferry_notifications_dropped", .counter,
                help: "Notifications dropped for want of room; read again.",
                .integer(counts.notificationsDropped)),
            MetricFamily(
                "bandferry_mailbox_notifications", .gauge,
                help: "Notifications that wait for the band's session.",
                devices.map { device in
                    Sample([("device_id", device.text)], .integer(counts.bands[device]?.waiting ?? 0))
                }),
            MetricFamily(
                "bandferry_mailbox_most_notifications", .gauge,
                help: "The most notifications that ever waited for one session.",
                .integer(counts.mostWaiting)),
            MetricFamily(
                "bandferry_failures", .counter, help: "Failed syncs by the condition's code.",
                counts.failures.keys.sorted().map { code in
                    Sample([("code", code)], .integer(counts.failures[code] ?? 0))
                }),
        ]
    }

    /// Over all adapters, which have addresses.
    private var air: [MetricFamily] {
        guard let radio else { return [] }
        func counter(_ name: String, _ help: String, _ value: Int) -> MetricFamily {
            MetricFamily(name, .counter, help: help, .integer(Int64(value)))
        }
        let uses = [
            ("scan", radio.scanMilliseconds), ("attempt", radio.attemptMilliseconds),
            ("link", radio.linkMilliseconds),
        ]
        return [
            counter("bandferry_radio_attempts", "Connection attempts.", radio.attempts),
            counter(
                "bandferry_radio_failed_attempts", "Connection attempts that failed.", radio.failedAttempts),
            counter(
                "bandferry_radio_reconnects", "Links to bands after the first of each.", radio.reconnects),
            counter(
                "bandferry_radio_refused_links", "Links that an adapter had no slot for.", radio.refusedLinks),
            counter("bandferry_radio_missed_looks", "Looks that ended without a band.", radio.missedLooks),
            MetricFamily(
                "bandferry_radio_seconds", .counter, unit: "seconds",
                help: "Time that discovery, attempts and links took, summed over adapters.",
                uses.map { Sample([("use", $0.0)], .thousandths($0.1)) }),
            MetricFamily(
                "bandferry_radio_remedies", .counter,
                help: "Remedies taken for a Bluetooth that misbehaved.",
                radio.remediesTaken.sorted { $0.key < $1.key }.map {
                    Sample([("remedy", $0.key.rawValue)], .integer(Int64($0.value)))
                }),
        ]
    }

    private var bands: [MetricFamily] {
        func gauge(_ name: String, unit: String = "", _ help: String, _ value: (BandStatus) -> Sample.Value?)
            -> MetricFamily
        {
            MetricFamily(
                name, .gauge, unit: unit, help: help,
                adopted.compactMap { band in
                    value(band).map { Sample([("device_id", band.device.text)], $0) }
                })
        }
        return [
            gauge("bandferry_band_last_seen_age_seconds", unit: "seconds", "Time since the last contact.") {
                age($0.lastContact)
            },
            gauge(
                "bandferry_band_newest_record_age_seconds", unit: "seconds", "Age of the newest record here."
            ) {
                age($0.newestRecordedAt)
            },
            gauge("bandferry_band_unread", "Records that the band was seen to hold and that are not here.") {
                $0.unread.map { .integer(Int64($0)) }
            },
            gauge("bandferry_band_stored", "Samples of the band here.") { .integer(Int64($0.stored)) },
            gauge("bandferry_band_gaps", "Open gaps of the band's history.") { .integer(Int64($0.gaps)) },
            gauge("bandferry_band_stopped_recording", "1 when the band is in contact and records nothing.") {
                .integer($0.recording == .stopped ? 1 : 0)
            },
            gauge("bandferry_upload_pending", "Samples of the band that the server has not confirmed.") {
                .integer(Int64($0.pending))
            },
            gauge(
                "bandferry_upload_lag_seconds", unit: "seconds",
                "Age of the oldest sample of the band that may go up and that the server has not confirmed."
            ) {
                age($0.oldestPendingAt) ?? .integer(0)
            },
            gauge("bandferry_upload_quarantined", "Samples of the band that the server refused.") {
                .integer(Int64($0.quarantined))
            },
        ]
    }

    private var upload: [MetricFamily] {
        let failures = MetricFamily(
            "bandferry_upload_failures", .counter, help: "Upload runs that failed, by cause.",
            counts.uploadFailures.keys.sorted().map { cause in
                Sample([("cause", cause)], .integer(counts.uploadFailures[cause] ?? 0))
            })
        guard let value = age(status.lastUpload) else { return [failures] }
        return [
            failures,
            MetricFamily(
                "bandferry_upload_last_success_age_seconds", .gauge, unit: "seconds",
                help: "Time since the server last confirmed samples.", value),
        ]
    }

    private var disk: [MetricFamily] {
        [
            databaseBytes.map {
                MetricFamily(
                    "bandferry_database_bytes", .gauge, unit: "bytes",
                    help: "Size of the database with its log.",
                    .integer($0))
            },
            freeBytes.map {
                MetricFamily(
                    "bandferry_disk_free_bytes", .gauge, unit: "bytes",
                    help: "Room on the file system of the state directory.", .integer($0))
            },
        ].compactMap { $0 }
    }

    /// Every condition that holds now; how many bands it holds for.
    private var conditions: [MetricFamily] {
        var holding: [String: Int64] = [:]
        for problem in status.problems + adopted.flatMap({ $0.conditions() }) {
            holding[problem.code, default: 0] += 1
        }
        return [
            MetricFamily(
                "bandferry_condition", .gauge,
                help:
                    "Conditions that hold now, for the gateway or so many bands; docs/conditions.md explains each.",
                holding.keys.sorted().map { code in
                    Sample(
                        [
                            ("code", code),
                            ("severity", (ConditionTable.severity(of: code) ?? .warning).rawValue),
                        ], .integer(holding[code] ?? 0))
                })
        ]
    }

    private var adopted: [BandStatus] { status.bands.filter(\.adopted) }

    /// Nil = never; a clock that was set back makes no negative age.
    private func age(_ time: Timestamp?) -> Sample.Value? {
        time.map { .thousandths(max(0, now.milliseconds - $0.milliseconds)) }
    }
}
