import Locking
import Systemd
import Testing

/// Keeps what is logged.
private final class MemorySink: LogSink {
    private let lines = Guarded<[String]>([])
    var texts: [String] { lines.withLock { $0 } }
    func write(_ entry: LogEntry) { lines.withLock { $0.append("\(entry.level.name): \(entry.text)") } }
}

@Suite struct LogTests {
    @Test func fieldsFollowTheConstantText() {
        let sink = MemorySink()
        let log = Log(level: .info, sink: sink)
        log.info("chunk committed", [("band", .band("F0:F1:F2:F3:F4:F5")), ("through", 120)])
        log.flush()
        #expect(sink.texts == ["info: chunk committed (band=F4:F5, through=120)"])
    }

    @Test(arguments: LogLevel.allCases) func onlyWhatMattersEnoughIsWritten(_ level: LogLevel) {
        let sink = MemorySink()
        let log = Log(level: level, sink: sink)
        log.error("a")
        log.warning("b")
        log.notice("c")
        log.info("d")
        log.debug("e")
        log.flush()
        #expect(sink.texts.count == level.rawValue - 2)
    }

    @Test func linesKeepTheirOrder() {
        let sink = MemorySink()
        let log = Log(sink: sink)
        for number in 0..<200 { log.info("line", [("number", .count(number))]) }
        log.flush(deadline: .seconds(30))
        #expect(sink.texts == (0..<200).map { "info: line (number=\($0))" })
    }

    @Test func aFieldCannotForgeALine() {
        let entry = LogEntry(
            level: .error, message: "bad name", fields: [("name", "x\nerror: all is lost\u{1b}[2J")])
        #expect(!entry.text.unicodeScalars.contains { $0.value < 0x20 })
        let turned = LogEntry(
            level: .error, message: "bad name", fields: [("name", "x\u{202e}lla\u{2066}y\u{2028}z\u{200f}é👩‍👧")]
        )
        #expect(turned.text == "bad name (name=x lla y z é👩‍👧)")
    }

    @Test func durationsCarryTheirUnit() {
        let entry = LogEntry(
            level: .info, message: "synced", fields: [("took", .duration(.milliseconds(1500)))])
        #expect(entry.text == "synced (took=1500 ms)")
    }

    @Test func levelsAreReadByName() {
        for level in LogLevel.allCases { #expect(LogLevel(name: level.name) == level) }
        #expect(LogLevel(name: "loud") == nil)
        #expect(LogLevel.error > .debug)
    }
}
