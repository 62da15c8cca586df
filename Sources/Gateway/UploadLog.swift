import Systemd
import Uplink

/// The upload's events as log lines.
struct UploadLog {
    let log: Log

    func write(_ event: UploadEvent) {
        let fields: Log.Fields =
            event.fields.map { ($0.name, .text($0.value)) } + [("text", .text(event.text))]
        switch event.level {
        case .debug: log.debug(event.name, fields)
        case .info: log.info(event.name, fields)
        case .notice: log.notice(event.name, fields)
        case .warning: log.warning(event.name, fields)
        }
    }
}
