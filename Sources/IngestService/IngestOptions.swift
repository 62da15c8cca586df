import HTTPServer

/// The command line of `bandferry-ingest`.
public struct IngestOptions: Equatable, Sendable {
    public var listen: ListenAddress
    /// The SQLite file.
    public var storePath: String
    public var tokenFile: String
    public var allowsPlainHTTP = false
    /// For each account; nil = no bound.
    public var requestsPerMinute: Int?
    public var dashboard = Dashboard.Places()

    public enum Command: Equatable, Sendable {
        case run(IngestOptions)
        case help
        case version
    }

    public static let help = """
        Usage: bandferry-ingest --listen ADDR:PORT --store sqlite:PATH --token-file FILE

        Takes samples from gateways by ingest API 1, keeps them, and shows them to people at /.

          --listen ADDR:PORT        a numeric address or localhost; port 0 takes any free one
          --store sqlite:PATH       the database file; made when it is not there
          --token-file FILE         TOKEN [ACCOUNT [gateway|read]] a line; nobody but its owner may read it
          --requests-per-minute N   answer an account's further requests with 429
          --dashboard DIR           the page's files; none = no page. Otherwise those that were installed
          --chart-js FILE           Chart.js for the page; Debian's libjs-chart.js unless given
          --allow-plain-http        listen beyond loopback although tokens then travel in the clear
          --help, --version

        The first line on standard output says where it listens. SIGTERM finishes what is in hand.

        Exit status: 0 stopped as asked, 64 usage, 65 the store is damaged or of another version,
        69 the address can't be had, 74 the store can't be used now, 78 the token file or the set-up is refused.

        """

    public static func parse(_ arguments: [String]) throws(UsageFailure) -> Command {
        var values: [String: String] = [:]
        var flags: Set<String> = []
        var rest = arguments[...]
        while let argument = rest.popFirst() {
            let parts = argument.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let name = String(parts[0])
            switch name {
            case "--help", "-h": return .help
            case "--version": return .version
            case "--allow-plain-http":
                guard parts.count == 1 else { throw UsageFailure("\(name) takes no value") }
                flags.insert(name)
            case "--listen", "--store", "--token-file", "--requests-per-minute", "--dashboard", "--chart-js":
                guard let value = parts.count == 2 ? String(parts[1]) : rest.popFirst() else {
                    throw UsageFailure("\(name) needs a value")
                }
                guard values.updateValue(value, forKey: name) == nil else {
                    throw UsageFailure("\(name) is given twice")
                }
            default:
                throw UsageFailure("\(argument) is not an option")
            }
        }
        return .run(try IngestOptions(values: values, flags: flags))
    }

    private init(values: [String: String], flags: Set<String>) throws(UsageFailure) {
        func required(_ name: String) throws(UsageFailure) -> String {
            guard let value = values[name] else { throw UsageFailure("\(name) is missing") }
            return value
        }
        let address = try required("--listen")
        guard let listen = ListenAddress(address) else {
            throw UsageFailure("--listen \(address): not an address and a port, such as 127.0.0.1:8787")
        }
        let store = try required("--store")
        guard store.hasPrefix("sqlite:"), store.utf8.count > "sqlite:".utf8.count else {
            throw UsageFailure("--store \(store): not sqlite: and a path")
        }
        self.listen = listen
        storePath = String(store.dropFirst("sqlite:".count))
        tokenFile = try required("--token-file")
        dashboard = Dashboard.Places(directory: values["--dashboard"], chartFile: values["--chart-js"])
        allowsPlainHTTP = flags.contains("--allow-plain-http")
        if let text = values["--requests-per-minute"] {
            guard let number = Int(text), number > 0 else {
                throw UsageFailure("--requests-per-minute \(text): not a number from 1")
            }
            requestsPerMinute = number
        }
    }
}

/// A command line that can't be followed.
public struct UsageFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}
