import BandProfile
import GatewayModel

/// How far a history has come in, from what the daemon says of the band.
public struct SyncProgress: Equatable, Sendable {
    public let name: String
    private var first: UInt32?
    private var next: UInt32 = 0
    private var last: UInt32 = 0
    private var startedAt: Timestamp

    public init(_ band: BandStatus, now: Timestamp) {
        name = band.name ?? band.address.description
        startedAt = now
        update(band)
    }

    public mutating func update(_ band: BandStatus) {
        guard let next = band.nextSeq, let last = band.newestSeq else { return }
        if let first, next < first { self.first = next }  // a new ring counts from 1 again
        if first == nil { first = next }
        self.next = next
        self.last = last
    }

    /// Records that have come, and those that there are to come; nil when the band has not said yet.
    public var figures: (done: Int, total: Int)? {
        guard let first, last >= first else { return first == nil ? nil : (0, 0) }
        let total = Int(last - first) + 1
        return (min(total, Int(next - first)), total)
    }

    /// One line without a newline: a bar on a terminal, words elsewhere.
    public func rendered(now: Timestamp, terminal: Terminal) -> String {
        guard let (done, total) = figures else { return "\(printable(name)): connecting" }
        guard total > 0 else { return "\(printable(name)): nothing new" }
        let percent = done * 100 / total
        let figures = "\(grouped(done)) of \(grouped(total))"
        guard terminal.isInteractive else { return "\(printable(name)): \(percent)%, \(figures) records" }
        let end = " \(percent)% \(figures)\(remaining(done: done, total: total, now: now))"
        let room = terminal.width - printable(name).count - end.count - 4
        guard room >= 5 else { return "\(printable(name))\(end)" }
        return "\(printable(name)) \(Self.bar(done: done, total: total, width: min(40, room)))\(end)"
    }

    private func remaining(done: Int, total: Int, now: Timestamp) -> String {
        let elapsed = now.milliseconds - startedAt.milliseconds
        guard done > 0, done < total, elapsed > 2000 else { return "" }
        return ", \(TimeText.span(max(1, elapsed * Int64(total - done) / Int64(done) / 1000))) left"
    }

    /// Eighths of a cell, so that a slow sync is seen to move.
    static func bar(done: Int, total: Int, width: Int) -> String {
        let eighths = max(0, min(width * 8, total > 0 ? done * width * 8 / total : 0))
        let full = eighths / 8
        let part = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"][eighths % 8]
        let rest = width - full - (part.isEmpty ? 0 : 1)
        return "[" + String(repeating: "█", count: full) + part + String(repeating: "░", count: rest) + "]"
    }
}
