import BandProfile
import GatewayModel

/// The parts of a band's row, each as a person reads it.
struct BandText {
    let band: BandStatus
    let now: Timestamp

    /// The address, with the name where there is one.
    var title: String { band.name.map { "\(band.address) (\($0))" } ?? band.address.description }

    /// `own`, `observe`; `forgotten` keeps its rows.
    var mode: String {
        guard band.adopted else { return "forgotten" }
        guard !band.isObservedForNow else { return "own, observing" }
        return band.mode == .own && band.ack == .upload ? "own, ack = upload" : band.mode.rawValue
    }

    var contact: String {
        if band.syncing { return progress.map { "syncing \($0)" } ?? "syncing" }
        return band.connected ? "connected" : TimeText.ago(band.lastContact, now: now)
    }

    var mtu: String { band.mtu.map(String.init) ?? "?" }
    var battery: String { band.battery.map { "\($0)%" } ?? "?" }
    var firmware: String { band.firmware ?? "?" }
    var newest: String { TimeText.ago(band.newestRecordedAt, now: now) }

    /// Whether "nothing new" is good news.
    var history: String {
        switch band.recording {
        case .unknown: "?"
        case .behind: band.unread.map { "\(grouped($0)) to read" } ?? "?"
        case .caughtUp: "caught up"
        case .stopped: "stopped"
        }
    }

    /// How much of what the band has ever numbered is here.
    private var progress: String? {
        guard let next = band.nextSeq, let newest = band.newestSeq, newest > 0, next > 0 else { return nil }
        return "\(min(100, Int(next - 1) * 100 / Int(newest)))%"
    }

    /// What a person should know beside the figures.
    var notes: [Note] { band.conditions(.people).map { Note($0, now: now) } }
}

extension ConditionWords {
    static let people = ConditionWords(
        counted: { CommandLineText.counted($0, $1) }, time: { TimeText.short($0) },
        span: { TimeText.span($0) })
}

/// A sentence and what to do about it.
struct Note {
    var text: String
    var remedy: String

    init(text: String, remedy: String) {
        self.text = text
        self.remedy = remedy
    }

    init(_ problem: Problem, now: Timestamp) {
        let since = problem.since.map { " (\(TimeText.ago($0, now: now)))" } ?? ""
        text = printable(problem.text) + since
        remedy = printable(problem.remedy)
    }

    func rendered(subject: String?, for terminal: Terminal) -> String {
        let sentence = wrapped(
            (subject.map { "\(printable($0)): " } ?? "") + text, width: terminal.width, indent: "  ")
        guard !remedy.isEmpty else { return terminal.alarming("!") + sentence.dropFirst() }
        let advice = wrapped("What to do: \(remedy)", width: terminal.width, indent: "    ")
        return terminal.alarming("!") + sentence.dropFirst() + "\n" + advice
    }
}
