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
        guard !isObservingForNow else { return "own, observing" }
        return band.mode == .own && band.ack == .upload ? "own, ack = upload" : band.mode.rawValue
    }

    private var isObservingForNow: Bool {
        band.mode.effective(band.lease) != band.mode
    }

    var contact: String {
        if band.syncing { return progress.map { "syncing \($0)" } ?? "syncing" }
        return band.connected ? "connected" : TimeText.ago(band.lastContact, now: now)
    }

    var mtu: String { band.mtu.map(String.init) ?? "?" }
    var battery: String { band.battery.map { "\($0)%" } ?? "?" }
    var firmware: String { band.firmware ?? "?" }
    var newest: String { TimeText.ago(band.newestRecordedAt, now: now) }

    /// Records that the band holds and that are not here yet, where it was seen lately.
    var unread: Int? {
        guard let next = band.nextSeq, let newest = band.newestSeq else { return nil }
        return newest >= next ? Int(newest - next) + 1 : 0
    }

    /// How much of what the band has ever numbered is here.
    private var progress: String? {
        guard let next = band.nextSeq, let newest = band.newestSeq, newest > 0, next > 0 else { return nil }
        return "\(min(100, Int(next - 1) * 100 / Int(newest)))%"
    }

    /// What a person should know beside the figures, the gravest first.
    var notes: [Note] {
        var notes: [Note] = []
        // A forgotten band is not tried any more.
        if let problem = band.problem, band.adopted { notes.append(Note(problem, now: now)) }
        if let lease = band.lease, band.adopted, isObservingForNow {
            notes.append(
                lease.holder.isEmpty
                    ? Note(
                        text:
                            "The server has not said yet whether this gateway may own this band: until then it is stored "
                            + "here and not acknowledged. Nothing is lost while the band's memory has room.",
                        remedy:
                            "See that the server can be reached: 'bandferry upload status' says what is in the way. Then it "
                            + "goes on by itself.")
                    : Note(
                        text:
                            "The server says that another gateway (\(printable(lease.holder))) owns this band, for now until "
                            + "\(TimeText.short(lease.until)): here it is stored and uploaded, and not acknowledged.",
                        remedy:
                            "Nothing, if that gateway is meant to own it; then write mode = observe here. If it is gone, this one "
                            + "takes over by itself when its time is over."))
        }
        if let mtu = band.mtu, mtu < BandHistory.preferredMTU {
            let records = BandHistory.recordsPerNotification(mtu: mtu)
            let carries = "a packet carries \(counted(records, "record")) instead of 15"
            notes.append(
                Note(
                    text:
                        "The MTU is \(mtu), below \(BandHistory.preferredMTU): \(carries), so a sync takes longer.",
                    remedy:
                        "Set ExchangeMTU = 517 under [GATT] in /etc/bluetooth/main.conf and restart bluetooth. "
                        + "If it stays so, the band allows no more."))
        }
        if band.quarantined > 0 {
            notes.append(
                Note(
                    text: "The server refused \(counted(band.quarantined, "sample")); they are kept here.",
                    remedy:
                        "Look for 'refused' in journalctl -u bandferryd; they go again when the server takes them."
                ))
        }
        if band.conflicts > 0 {
            notes.append(
                Note(
                    text:
                        "\(counted(band.conflicts, "record")) came a second time with other content; both are kept.",
                    remedy: "Update the band's firmware, or report the band to its maker."))
        }
        if band.undecodable > 0 {
            notes.append(
                Note(
                    text:
                        "\(counted(band.undecodable, "record")) could not be decoded; the raw bytes are kept.",
                    remedy: "A newer bandferry may read them; nothing is lost."))
        }
        if band.gaps > 0 {
            notes.append(
                Note(
                    text: "\(counted(band.gaps, "gap")) in the history.", remedy: "bandferry gaps lists them."
                ))
        }
        return notes
    }
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
