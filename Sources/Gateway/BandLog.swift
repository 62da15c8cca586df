import BandProfile
import GatewayModel
import HistorySync
import Systemd

/// The log lines of one band: seqs, counts and durations, never a value.
struct BandLog: Sendable {
    let log: Log
    let address: BluetoothAddress

    private var band: (name: String, value: LogValue) { ("band", .band(address)) }

    func committed(_ chunk: Chunk, _ outcome: CommitOutcome) {
        if outcome.conflicts > 0 {
            log.warning(
                "records differ from what was stored under their numbers",
                [band, ("count", .count(outcome.conflicts))])
        }
        // Once a chunk: the fields are only made where they are read.
        guard log.level == .debug else { return }
        log.debug(
            "chunk committed",
            [
                band, ("ring", .text(chunk.ring.description)), ("through", .count(chunk.through)),
                ("records", .count(chunk.records.count)), ("ack_through", .count(outcome.ackThrough)),
            ])
    }

    func acked(_ seq: UInt32) {
        guard log.level == .debug else { return }
        log.debug("acked", [band, ("through", .count(seq))])
    }

    func notificationsDropped(_ count: Int) {
        log.warning(
            "notifications dropped: the mailbox was full, they are asked for again",
            [band, ("count", .count(count))])
    }

    func ended(_ end: SessionEnd, _ summary: SessionSummary, took: Duration) {
        let fields: Log.Fields = [
            band, ("end", .text("\(end.name)")), ("notifications", .count(summary.notifications)),
            ("chunks", .count(summary.chunks)), ("stored", .count(summary.stored)),
            ("duplicates", .count(summary.duplicates)), ("conflicts", .count(summary.conflicts)),
            ("kept_raw", .count(summary.keptRaw)), ("streams", .count(summary.streams)),
            ("took", .duration(took)),
        ]
        switch end {
        case .caughtUp, .stopped, .linkLost, .retryOnNewConnection: log.info("session ended", fields)
        case .ringChanged, .stalled, .protocolFault, .failed: log.warning("session ended", fields)
        }
    }

    func note(_ note: SessionNote) {
        switch note {
        case .ringRolledBack(let committed, let newest):
            log.warning(
                "the ring shows less than was committed from it: reading it all again",
                [band, ("committed", .count(committed)), ("newest", .count(newest))])
        case .lateEnd(let last):
            log.debug("END of an earlier stream", [band, ("last", .count(last))])
        case .silence(let acked):
            log.debug("silence in an open stream", [band, ("acked_again", .count(acked ? 1 : 0))])
        case .stalled(let seq):
            log.info("the stream stalled: asking again", [band, ("seq", .count(seq))])
        case .framingFault(let seq, let reason):
            log.info(
                "a notification is not readable", [band, ("seq", .count(seq)), ("reason", .text(reason))])
        case .hole(let seq, let next):
            log.info(
                "records are missing: asking again", [band, ("first", .count(seq)), ("next", .count(next))])
        case .gaveUp(let first, let last, let cause):
            log.warning(
                "records could not be read: a gap is written",
                [band, ("first", .count(first)), ("last", .count(last)), ("cause", .text(cause.rawValue))])
        }
    }
}

extension SessionEnd {
    /// For the log; texts for people are in the problem.
    var name: String {
        switch self {
        case .caughtUp: "caught_up"
        case .linkLost: "link_lost"
        case .stopped: "stopped"
        case .retryOnNewConnection: "retry_on_new_connection"
        case .ringChanged: "ring_changed"
        case .stalled: "stalled"
        case .protocolFault: "protocol_fault"
        case .failed(.link(let problem)): problem.code
        case .failed(.store(let problem)): problem.code
        }
    }
}
