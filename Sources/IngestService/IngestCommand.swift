/// The command line of `bandferry-ingest`.
public enum IngestCommand: Equatable, Sendable {
    case serve(IngestOptions)
    case administer(AdminCommand)
    case showHelp
    case showVersion

    public static func parse(_ arguments: [String]) throws(UsageFailure) -> IngestCommand {
        if arguments.contains("--help") || arguments.contains("-h") { return .showHelp }
        switch arguments.first {
        case "help": return .showHelp
        case "version", "--version": return .showVersion
        case "account": return .administer(try AdminCommand(account: arguments.dropFirst()))
        case "token": return .administer(try AdminCommand(token: arguments.dropFirst()))
        default: return .serve(try IngestOptions(arguments))
        }
    }

    public static let help = """
        Usage: bandferry-ingest --listen ADDR:PORT --store STORE [option...]
               bandferry-ingest account create NAME --store STORE
               bandferry-ingest account list --store STORE
               bandferry-ingest token create --account NAME --role gateway|read [--label TEXT]
                                             [--output FILE] --store STORE
               bandferry-ingest token list [--account NAME] --store STORE
               bandferry-ingest token revoke ID --store STORE

        Without a command it takes samples from gateways by ingest API 1, keeps them, and shows them to people at /.

          --listen ADDR:PORT        a numeric address or localhost; port 0 takes any free one
          --store STORE             sqlite:PATH, a file, made when it is not there; or postgresql://USER@HOST/NAME,
                                    as libpq takes it: keep its password in a file that PGPASSFILE names
          --retention-days N        samples older than that may go, their days are kept; 90 unless given,
                                    0 = they are kept for ever
          --token-file FILE         tokens beside those in the store, TOKEN [ACCOUNT [gateway|read]] a line;
                                    nobody but its owner may read it
          --tls-certificate FILE    PEM, the leaf certificate first; with it the server speaks TLS only
          --tls-key FILE            PEM; nobody but its owner may read it
          --allow-plain-http        listen beyond loopback without TLS although tokens then travel in the clear
          --behind-proxy            a proxy is the only client: tell clients apart by X-Forwarded-For
          --dashboard DIR           the page's files; none = no page. Those that were installed unless given
          --chart-js FILE           Chart.js for the page; Debian's libjs-chart.js unless given
          --requests-per-minute N   answer a token's further requests with 429
          --max-connections N       \(IngestOptions.defaultConnections) unless given
          --max-connections-per-address N
                                    of an IPv4 address or an IPv6 /64; 0 = no limit. \
        \(IngestOptions.defaultConnectionsPerAddress) unless given,
                                    none on loopback and behind a proxy
          --help, --version

        The first line on standard output says where it listens. SIGTERM finishes what is in hand. SIGHUP reads
        the certificate, the key and the token file again.

        token create prints the token, which is kept nowhere and can't be shown again, alone on standard output,
        or writes it to a new file that only its owner can read. A revoked token is refused within ten seconds.

        Exit status: 0 stopped as asked or done, 1 there is no such account or token, 64 usage, 65 the store is
        damaged or of another version, 69 the address can't be had, 73 the file can't be made, 74 the store
        can't be used now, 78 a file or the set-up is refused.

        """
}
