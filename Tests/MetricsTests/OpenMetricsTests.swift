import BandProfile
import Conditions
import GatewayModel
import RadioSchedule
import Testing

@testable import Metrics

@Suite struct HistogramTests {
    @Test func aValueIsCountedAtTheFirstBoundThatHoldsIt() {
        var histogram = Histogram(bounds: [10, 20])
        for value: Int64 in [0, 10, 11, 20, 21, 1_000, -5] { histogram.add(value) }
        #expect(histogram.counts == [3, 2, 2])
        #expect(histogram.count == 7)
        #expect(histogram.sum == 1_062)
        #expect(Histogram.latencyBounds == Histogram.latencyBounds.sorted())
    }
}

@Suite struct OpenMetricsTextTests {
    /// OpenMetrics 1.0, "Overall Structure", "Escaping", "Histogram".
    @Test func theTextIsThatOfTheStandard() {
        var histogram = Histogram(bounds: [1_000, 2_500_000])
        for value: Int64 in [500, 1_500, 3_000_000] { histogram.add(value) }
        let families = [
            MetricFamily(
                "a", .info, help: "Says \"what\".", [.init([("version", "1\\2\n\"3\"")], .integer(1))]),
            MetricFamily("b", .counter, help: "B.", [.init([("x", "1"), ("y", "2")], .integer(7))]),
            MetricFamily("c_seconds", .gauge, unit: "seconds", help: "C.", .thousandths(-1_050)),
            MetricFamily("d_seconds", .histogram, unit: "seconds", help: "D.", .histogram(histogram)),
            MetricFamily("e", .gauge, help: "Nothing.", []),
        ]
        #expect(
            OpenMetricsText.rendered(families) == """
                # TYPE a info
                # HELP a Says \\"what\\".
                a_info{version="1\\\\2\\n\\"3\\""} 1
                # TYPE b counter
                # HELP b B.
                b_total{x="1",y="2"} 7
                # TYPE c_seconds gauge
                # UNIT c_seconds seconds
                # HELP c_seconds C.
                c_seconds -1.05
                # TYPE d_seconds histogram
                # UNIT d_seconds seconds
                # HELP d_seconds D.
                d_seconds_bucket{le="0.001"} 1
                d_seconds_bucket{le="2.5"} 2
                d_seconds_bucket{le="+Inf"} 3
                d_seconds_count 3
                d_seconds_sum 3.002
                # EOF

                """)
    }

    @Test(arguments: [
        (Int64(0), "0.0"), (1, "0.001"), (999, "0.999"), (1_000, "1.0"), (-1, "-0.001"), (123_456, "123.456"),
        (.min, "-9223372036854775.808"),
    ])
    func aNumberIsNeverRounded(_ value: Int64, _ text: String) {
        let rendered = OpenMetricsText.rendered([MetricFamily("a", .gauge, help: "", .thousandths(value))])
        #expect(rendered.contains("\na \(text)\n"), "\(rendered)")
    }
}

@Suite struct GatewayMetricsTests {
    private let address = BluetoothAddress("F0:F1:F2:F3:F4:F5") ?? BluetoothAddress(bits: 0)

    private func metrics() -> GatewayMetrics {
        var status = GatewayStatus(version: "1.2", stateDirectory: "/s", running: true)
        var band = BandStatus(address: address, device: DeviceID("anna-1") ?? DeviceID(address), mode: .own)
        band.name = "Anna"
        band.stored = 120
        band.pending = 7
        band.oldestPendingAt = Timestamp(milliseconds: 31_000)
        band.gaps = 2
        band.connected = true
        (band.nextSeq, band.newestSeq) = (8, 10)
        band.lastContact = Timestamp(milliseconds: 1_000)
        band.problem = Problem(.bandUnreachable, ["operation": "connect", "detail": ""])
        var forgotten = band
        forgotten.adopted = false
        forgotten.device = DeviceID("gone") ?? band.device
        status.bands = [band, forgotten]
        status.problems = [Problem(.clockImplausible)]
        status.lastUpload = Timestamp(milliseconds: 61_500)
        var counts = GatewayCounts()
        counts.connected(band.device)
        counts.committed(band.device, samples: 120, microseconds: 4_000)
        counts.ack.add(9_000)
        counts.failed("band_unreachable")
        counts.waiting(band.device, 40)
        counts.waiting(band.device, 3)
        counts.uploadFailed("server_timed_out")
        var radio = RadioCounters()
        (radio.attempts, radio.failedAttempts, radio.reconnects) = (9, 2, 3)
        (radio.scanMilliseconds, radio.linkMilliseconds) = (4_500, 61_001)
        radio.linksHeld = [address: 1]
        radio.remedies = [
            address: [.powerCycle: 2], BluetoothAddress(bits: 1): [.powerCycle: 1, .dropLink: 4],
        ]
        return GatewayMetrics(
            status: status, counts: counts, radio: radio, now: Timestamp(milliseconds: 61_000),
            databaseBytes: 4_096,
            freeBytes: 1_000_000)
    }

    @Test(arguments: [
        "bandferry_build_info{version=\"1.2\"} 1", "bandferry_bands 1", "bandferry_bands_connected 1",
        "bandferry_samples_total{device_id=\"anna-1\"} 120", "bandferry_chunks_total{device_id=\"anna-1\"} 1",
        "bandferry_connections_total{device_id=\"anna-1\"} 1", "bandferry_commit_seconds_count 1",
        "bandferry_commit_seconds_bucket{le=\"0.005\"} 1", "bandferry_commit_seconds_bucket{le=\"0.0025\"} 0",
        "bandferry_ack_seconds_sum 0.009", "bandferry_failures_total{code=\"band_unreachable\"} 1",
        "bandferry_band_last_seen_age_seconds{device_id=\"anna-1\"} 60.0",
        "bandferry_band_unread{device_id=\"anna-1\"} 3", "bandferry_upload_pending{device_id=\"anna-1\"} 7",
        "bandferry_mailbox_notifications{device_id=\"anna-1\"} 3", "bandferry_mailbox_most_notifications 40",
        "bandferry_upload_lag_seconds{device_id=\"anna-1\"} 30.0",
        "bandferry_upload_failures_total{cause=\"server_timed_out\"} 1",
        "bandferry_upload_last_success_age_seconds 0.0", "bandferry_database_bytes 4096",
        "bandferry_disk_free_bytes 1000000", "bandferry_radio_attempts_total 9",
        "bandferry_radio_failed_attempts_total 2", "bandferry_radio_reconnects_total 3",
        "bandferry_radio_seconds_total{use=\"scan\"} 4.5",
        "bandferry_radio_seconds_total{use=\"attempt\"} 0.0",
        "bandferry_radio_seconds_total{use=\"link\"} 61.001",
        "bandferry_radio_remedies_total{remedy=\"power_cycle\"} 3",
        "bandferry_radio_remedies_total{remedy=\"drop_link\"} 4",
        "bandferry_condition{code=\"band_unreachable\",severity=\"warning\"} 1",
        "bandferry_condition{code=\"clock_implausible\",severity=\"error\"} 1",
        "bandferry_condition{code=\"history_gaps\",severity=\"notice\"} 1",
    ])
    func eachFigureIsThere(_ line: String) {
        #expect(metrics().text.split(separator: "\n").contains(Substring(line)), "\(metrics().text)")
    }

    @Test func nobodyIsNamedAndNoAddressIsShownButInAnIDThatIsOne() {
        var metrics = metrics()
        let text = metrics.text
        #expect(!text.contains("Anna") && !text.uppercased().contains("F4:F5"))
        #expect(!text.uppercased().contains("F4F5"))
        #expect(!text.contains("gone"), "a forgotten band is nobody's business")
        metrics.status.bands[0].device = DeviceID(address)
        #expect(metrics.text.uppercased().contains("F4F5"), "docs/doctor.md says so")
    }

    @Test func causesThatAServerInventsAreBounded() {
        var counts = GatewayCounts()
        for number in 0..<1_000 { counts.uploadFailed("cause_\(number)") }
        #expect(counts.uploadFailures.count == 65)
        #expect(counts.uploadFailures["other"] == 936)
    }

    @Test func everyNameEndsWithItsUnitAndIsUsedOnce() {
        let families = metrics().families
        #expect(Set(families.map(\.name)).count == families.count)
        for family in families where !family.unit.isEmpty {
            #expect(family.name.hasSuffix("_" + family.unit))
        }
        for family in families { #expect(!family.name.hasSuffix("_total") && family.help.hasSuffix(".")) }
    }
}
