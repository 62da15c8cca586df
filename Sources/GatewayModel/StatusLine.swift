import Conditions

/// The one line that `systemctl status` shows: how the bands are and what waits, or what is worst.
public enum StatusLine {
    public static func text(_ status: GatewayStatus, now: Timestamp) -> String {
        let adopted = status.bands.filter(\.adopted)
        let all =
            status.problems.map { (problem: $0, band: BandStatus?.none) }
            + adopted.flatMap { band in band.conditions().map { (problem: $0, band: BandStatus?.some(band)) }
            }
        let errors = all.filter { $0.problem.severity == .error }
        // Of a band by its device id: the line is read by whoever may read the journal, a name is for nobody but its owner.
        if let first = errors.first {
            let more = errors.count > 1 ? " (and \(errors.count - 1) more)" : ""
            let subject = first.band.map { "\($0.device.text): " } ?? ""
            // Nor by address, a band's or an adapter's: a text that holds one is left to `bandferry status`.
            guard !holdsAddress(first.problem.text) else {
                return first.problem.code + (first.band.map { ": \($0.device.text)" } ?? "") + more
            }
            return "\(first.problem.code): \(subject)\(first.problem.text)\(more)"
        }
        var parts = [adopted.count == 1 ? "1 band" : "\(adopted.count) bands"]
        let syncing = adopted.count(where: \.syncing)
        if syncing > 0 {
            parts.append("\(syncing) syncing")
        } else if let last = adopted.compactMap(\.lastContact).map(\.milliseconds).max() {
            parts.append("last sync \(SpanText.text(seconds: max(0, now.milliseconds - last) / 1000)) ago")
        }
        let pending = adopted.reduce(0) { $0 + $1.pending }
        if status.uploadURL != nil, pending > 0 {
            parts.append(
                pending == 1 ? "1 sample waits for the server" : "\(pending) samples wait for the server")
        }
        if let warning = all.first(where: { $0.problem.severity == .warning }) {
            parts.append(warning.problem.code)
        }
        return parts.joined(separator: ", ")
    }

    /// Also with the underscores of an object path.
    private static func holdsAddress(_ text: String) -> Bool {
        text.split { !($0.isHexDigit || $0 == ":" || $0 == "_") }.contains { word in
            // A colon or an underscore may stand before or after it.
            let octets = word.split { $0 == ":" || $0 == "_" }
            return octets.count >= 6 && octets.suffix(6).allSatisfy { $0.utf8.count == 2 }
        }
    }
}

/// Lets a line out when it says something new, and not more often than every two seconds: systemd logs nothing of it, but
/// hears each one.
public struct StatusLineGate: Sendable {
    public static let rest: Int64 = 2_000
    private var last: (text: String, at: Int64)?

    public init() {}

    /// `now` in ms of a clock that does not step. Nil = nothing is to be said now; ask again with what holds then.
    public mutating func take(_ text: String, now: Int64) -> String? {
        if let last, last.text == text || now - last.at < Self.rest { return nil }
        last = (text, now)
        return text
    }
}
