/// The log of a program. Texts are constants; what varies travels as fields. No health value is ever logged.
///
///     log.info("chunk committed", [("band", .band(address)), ("through", .count(seq))])
public struct Log: Sendable {
    public typealias Fields = [(name: String, value: LogValue)]

    public var level: LogLevel
    private let queue: LogQueue

    public init(level: LogLevel = .info, sink: any LogSink) {
        self.level = level
        queue = LogQueue(sink: sink)
    }

    /// To the journal when systemd connected this process to it, else to stderr.
    public static func standard(identifier: String, level: LogLevel = .info) -> Log {
        JournalSink.isConnected
            ? Log(level: level, sink: JournalSink(identifier: identifier))
            : Log(level: level, sink: StandardErrorSink())
    }

    public func error(_ message: StaticString, _ fields: Fields = []) { write(.error, message, fields) }
    public func warning(_ message: StaticString, _ fields: Fields = []) { write(.warning, message, fields) }
    public func notice(_ message: StaticString, _ fields: Fields = []) { write(.notice, message, fields) }
    public func info(_ message: StaticString, _ fields: Fields = []) { write(.info, message, fields) }
    public func debug(_ message: StaticString, _ fields: Fields = []) { write(.debug, message, fields) }

    /// Waits until the lines so far are written; call it before the process ends.
    public func flush(deadline: Duration = .seconds(2)) { queue.flush(deadline: deadline) }

    private func write(_ level: LogLevel, _ message: StaticString, _ fields: Fields) {
        guard level >= self.level else { return }
        queue.append(LogEntry(level: level, message: "\(message)", fields: fields))
    }
}
