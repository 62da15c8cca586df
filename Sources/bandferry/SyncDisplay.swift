import BandProfile
import CommandLineText
import GatewayBus
import GatewayModel

/// Shows how far a sync is while it runs: one line that moves on a terminal, a line now and then elsewhere.
actor SyncDisplay {
    private let terminal: Terminal
    private let only: BluetoothAddress?
    private var progress: [BluetoothAddress: SyncProgress] = [:]
    private var shownPercent: [BluetoothAddress: Int] = [:]
    private var hasLine = false

    init(terminal: Terminal, only: BluetoothAddress?) {
        self.terminal = terminal
        self.only = only
    }

    func follow(_ changes: AsyncStream<BandStatus>) async {
        for await band in changes {
            if Task.isCancelled { break }
            show(band)
        }
        clear()
    }

    private func show(_ band: BandStatus) {
        guard only == nil || band.address == only, band.syncing else { return }
        let now = Timestamp.now
        var current = progress[band.address] ?? SyncProgress(band, now: now)
        current.update(band)
        progress[band.address] = current
        guard let figures = current.figures, figures.total > 0 else { return }
        let line = current.rendered(now: now, terminal: terminal)
        if terminal.isInteractive {
            put("\r\u{1b}[K" + line)
            hasLine = true
        } else {
            // A log does not want a line for every packet: one a tenth.
            let tenth = figures.done * 10 / figures.total
            guard shownPercent[band.address] != tenth else { return }
            shownPercent[band.address] = tenth
            put(line + "\n")
        }
    }

    private func clear() {
        if hasLine { put("\r\u{1b}[K") }
        hasLine = false
    }

    private func put(_ text: String) {
        var output = Output()
        // Progress that can't be written is not worth ending the sync for.
        try? output.write(text)
        try? output.flush()
    }
}
