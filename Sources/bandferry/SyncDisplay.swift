import BandProfile
import CommandLineText
import GatewayBus
import GatewayModel

/// Shows how far a sync is while it runs: a line a band that moves on a terminal, a line now and then elsewhere.
actor SyncDisplay {
    private let terminal: Terminal
    private let only: BluetoothAddress?
    private var progress: [BluetoothAddress: SyncProgress] = [:]
    private var shownTenth: [BluetoothAddress: Int] = [:]
    private var linesShown = 0

    init(terminal: Terminal, only: BluetoothAddress?) {
        self.terminal = terminal
        self.only = only
    }

    func follow(_ changes: AsyncStream<BandStatus>) async {
        for await band in changes {
            if Task.isCancelled { break }
            show(band)
        }
        put(erasing())
    }

    private func show(_ band: BandStatus) {
        guard only == nil || band.address == only, band.syncing else { return }
        let now = Timestamp.now
        var current = progress[band.address] ?? SyncProgress(band, now: now)
        current.update(band)
        progress[band.address] = current
        if terminal.isInteractive {
            let lines = progress.sorted { $0.key < $1.key }.map {
                $0.value.rendered(now: now, terminal: terminal)
            }
            put(erasing() + lines.joined(separator: "\n") + "\n")
            linesShown = lines.count
        } else if let figures = current.figures, figures.total > 0 {
            // A log does not want a line for every packet: one a tenth.
            let tenth = figures.done * 10 / figures.total
            guard shownTenth[band.address] != tenth else { return }
            shownTenth[band.address] = tenth
            put(current.rendered(now: now, terminal: terminal) + "\n")
        }
    }

    /// Takes the cursor to where the first line began, and clears from there on.
    private func erasing() -> String {
        defer { linesShown = 0 }
        return linesShown > 0 ? "\u{1b}[\(linesShown)A\u{1b}[J" : ""
    }

    private func put(_ text: String) {
        guard !text.isEmpty else { return }
        var output = Output()
        // Progress that can't be written is not worth ending the sync for.
        try? output.write(text)
        try? output.flush()
    }
}
