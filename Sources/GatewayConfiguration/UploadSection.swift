import UploadDecisions

/// Takes the keys of `[upload]` and says what is missing of them in the end.
struct UploadSection {
    static let keys = [
        "url", "token_file", "ca_file", "client_certificate", "client_key", "proxy", "proxy_credentials_file",
        "batch_size", "max_kilobytes_per_second", "metered_hours", "on_metered", "lease_seconds",
    ]

    private var settings = UploadSettings(url: "", tokenFile: "")
    private var isProxyTaken = false

    /// False for a key that it does not know.
    mutating func take(_ key: String, _ value: String) throws(Refusal) -> Bool {
        switch key {
        case "url": settings.url = try ServerURL.checked(value)
        case "token_file": settings.tokenFile = try Value.path(value)
        case "ca_file": settings.caFile = try Value.path(value)
        case "client_certificate": settings.clientCertificate = try Value.path(value)
        case "client_key": settings.clientKey = try Value.path(value)
        case "proxy":
            settings.proxy = try ProxyURL.checked(value)
            isProxyTaken = true
        case "proxy_credentials_file": settings.proxyCredentialsFile = try Value.path(value)
        case "batch_size":
            settings.batchSize = try Value.number(value, in: 1...500, unit: "samples, such as 500")
        case "max_kilobytes_per_second":
            settings.maxKilobytesPerSecond = try Value.number(
                value, in: 1...1_000_000, unit: "kilobytes, such as 50, or remove the line for no cap")
        case "lease_seconds":
            settings.leaseSeconds = try Value.number(value, in: 1...604_800, unit: "seconds, such as 3600")
        case "metered_hours": settings.meteredHours = try MeteredHoursText.read(value)
        case "on_metered":
            guard let choice = OnMetered(rawValue: value) else {
                throw Refusal(
                    "\(Value.quoted(value)) is no choice; write upload, or wait to keep history for other connections"
                )
            }
            settings.onMetered = choice
        default: return false
        }
        return true
    }

    /// The settings, or nil and what is missing. `line` gives the line of a key in the file; nil = it is not there.
    func finish(_ line: (String) -> Int?) -> (settings: UploadSettings?, missing: [Missing]) {
        var missing: [Missing] = []
        func need(_ key: String, for other: String? = nil, _ hint: String) {
            guard line(key) == nil, other.map({ line($0) != nil }) ?? true else { return }
            missing.append(Missing(key: key, besides: other, message: "is missing; \(hint)"))
        }
        let orRemove = ", or remove [upload] to keep samples here only"
        need("url", "write url = https://ingest.example.org" + orRemove)
        need("token_file", "write token_file = /etc/bandferry/token" + orRemove)
        need("client_key", for: "client_certificate", "write client_key = /etc/bandferry/client.key")
        need("client_certificate", for: "client_key", "write client_certificate = /etc/bandferry/client.pem")
        // A proxy whose own line is an error is not missing, too.
        let isNamed = if case .server = settings.proxy { true } else { line("proxy") != nil && !isProxyTaken }
        if line("proxy_credentials_file") != nil, !isNamed {
            missing.append(
                Missing(
                    key: "proxy_credentials_file", besides: "proxy_credentials_file",
                    message:
                        "has no proxy to go to; write proxy = http://proxy.example.org:3128, or remove the line"
                ))
        }
        return (missing.isEmpty ? settings : nil, missing)
    }

    struct Missing {
        var key: String
        /// The key whose line the error names; nil = that of the section.
        var besides: String?
        var message: String
    }
}

/// Where a proxy is. Without a user: that is a secret.
enum ProxyURL {
    private static let example =
        "write none, environment, or an address such as http://proxy.example.org:3128"
    private static let schemes = ["http://", "https://", "socks5h://"]

    static func checked(_ text: String) throws(Refusal) -> ProxySetting {
        switch text {
        case "none": return .none
        case "environment": return .environment
        default: break
        }
        if text.lowercased().hasPrefix("socks5://") {
            throw Refusal("would look the server's name up here; write socks5h://\(text.dropFirst(9))")
        }
        guard let scheme = schemes.first(where: { text.lowercased().hasPrefix($0) }) else {
            throw Refusal("\(Value.quoted(text)) is no kind of proxy that is known; \(example)")
        }
        var rest = text.dropFirst(scheme.count)
        if rest.hasSuffix("/") { rest = rest.dropLast() }
        guard !rest.contains("@") else {
            throw Refusal(
                "holds a user name or password; put them into proxy_credentials_file and \(example)")
        }
        guard rest.utf8.allSatisfy({ (0x21...0x7e).contains($0) && !ServerURL.isForbidden($0) }),
            !rest.contains(where: { $0 == "/" || $0 == "?" || $0 == "#" }),
            ServerURL.host(of: rest) != nil
        else {
            throw Refusal("\(Value.quoted(text)) has no valid host and port; \(example)")
        }
        guard rest.last != "]", rest.contains(":") else {
            throw Refusal("\(Value.quoted(text)) has no port; \(example)")
        }
        return .server(scheme + rest)
    }
}

/// `18:00-23:00, 22:30-06:00`.
enum MeteredHoursText {
    private static let example = "write times of the day such as 18:00-23:00, 06:00-07:30"

    static func read(_ text: String) throws(Refusal) -> MeteredHours {
        var hours = MeteredHours()
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let part = part.split(whereSeparator: { $0 == " " || $0 == "\t" }).joined()
            let ends = part.split(separator: "-", omittingEmptySubsequences: false)
            guard ends.count == 2, let from = minute(ends[0]), let to = minute(ends[1]),
                from < MeteredHours.minutesInDay
            else {
                throw Refusal("\(Value.quoted(part)) is no span of the day; \(example)")
            }
            guard from != to else {
                throw Refusal("\(Value.quoted(part)) begins when it ends; \(example)")
            }
            hours.spans.append(.init(from: from, to: to))
        }
        guard !hours.coverTheDay else {
            throw Refusal("leaves no minute of the day, so that nothing would ever go up; \(example)")
        }
        return hours
    }

    /// `h:mm` or `hh:mm`; 24:00 is the end of the day.
    private static func minute(_ text: Substring) -> Int? {
        let parts = text.split(separator: ":", omittingEmptySubsequences: false)
        guard parts.count == 2, (1...2).contains(parts[0].utf8.count), parts[1].utf8.count == 2,
            parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let hour = Int(parts[0]), let minute = Int(parts[1]), minute < 60,
            hour < 24 || hour == 24 && minute == 0
        else { return nil }
        return hour * 60 + minute
    }
}
