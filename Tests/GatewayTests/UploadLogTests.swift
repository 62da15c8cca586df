import GatewayModel
import Locking
import Systemd
import Testing
import Uplink
import UploadDecisions

@testable import Gateway

@Suite struct UploadLogTests {
    final class Sink: LogSink {
        let entries = Guarded<[LogEntry]>([])
        func write(_ entry: LogEntry) { entries.withLock { $0.append(entry) } }
    }

    private func entries(_ events: [UploadEvent], level: LogLevel = .debug) -> [LogEntry] {
        let sink = Sink()
        let log = Log(level: level, sink: sink)
        for event in events { UploadLog(log: log).write(event) }
        log.flush()
        return sink.entries.withLock { $0 }
    }

    private static var report: UploadRun.Report {
        var report = UploadRun.Report()
        report.syncID = "0b0f3a1e-0000-4000-8000-000000000000"
        report.batches = 2
        report.samples = 600
        report.confirmed = 590
        report.rejected = 4
        report.held = 6
        report.traffic = Traffic(requests: 5, bytesSent: 20_000, bytesReceived: 900)
        report.duration = .milliseconds(1234)
        return report
    }

    @Test func aRunIsFoundByItsNameAndReadByItsFields() throws {
        let started = UploadEvent.runStarted(syncID: Self.report.syncID, pending: 600, isRepeat: false)
        let finished = UploadEvent.runFinished(Self.report, end: .idle, pending: 0)
        let failed = UploadEvent.runFailed(
            Self.report, code: "network_timeout", cause: "host_clock_wrong", pending: 10, isRepeat: false)
        let written = entries([started, finished, failed])
        #expect(written.map(\.message) == ["upload_started", "upload_finished", "upload_failed"])
        #expect(written.map(\.level) == [.info, .info, .info])
        let last = try #require(written.last)
        let fields = Dictionary(uniqueKeysWithValues: last.fields.map { ($0.name, $0.value.description) })
        #expect(
            fields == [
                "sync_id": "0b0f3a1e-0000-4000-8000-000000000000", "pending": "10", "requests": "5",
                "batches": "2",
                "samples": "600", "confirmed": "590", "rejected": "4", "held": "6", "bytes_sent": "20000",
                "bytes_received": "900", "duration_ms": "1234", "error_code": "network_timeout",
                "cause": "host_clock_wrong", "text": "The upload failed; samples are kept and sent later.",
            ])
        #expect(written[1].fields.contains { $0.name == "end" && $0.value == .text("idle") })
        for entry in written {
            for field in entry.fields {
                #expect(field.name.allSatisfy { $0.isLowercase || $0 == "_" }, "\(field.name)")
            }
        }
    }

    @Test func whatRepeatsIsNotSaidAtTheUsualLevel() {
        let again: [UploadEvent] = [
            .runStarted(syncID: nil, pending: nil, isRepeat: true),
            .runFailed(Self.report, code: "a", cause: "a", pending: nil, isRepeat: true),
        ]
        #expect(entries(again, level: .info).isEmpty)
        #expect(entries(again).count == 2)
    }
}
