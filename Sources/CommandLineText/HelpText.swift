/// The text of `bandferry help`, a page a command.
public enum HelpText {
    /// Nil when there is no such command.
    public static func page(_ command: String?) -> String? {
        guard let command else { return overview }
        return pages.first { $0.name == command }?.text
    }

    public static var commands: [String] { pages.map(\.name) }

    private static var overview: String {
        let width = pages.map(\.name.count).max() ?? 0
        let list = pages.map { page in
            "  \(page.name)\(String(repeating: " ", count: width - page.name.count))  \(page.summary)"
        }
        let codes = ExitCode.allCases.map { "  \($0.rawValue)  \($0.meaning)" }
        return """
            NAME
              bandferry - ask and tell the gateway for fitness bands, bandferryd

            SYNOPSIS
              bandferry [--config FILE] [--json] COMMAND [OPTIONS]

            COMMANDS
            \(list.joined(separator: "\n"))

              'bandferry help COMMAND' says more of each.

            OPTIONS
              --config FILE  the daemon's configuration; /etc/bandferry/bandferry.conf unless given
              --json         for scripts: one JSON value on stdout; 'export' and 'help' have their own form. What went
                             wrong is on stderr, in words, and in the exit status

            EXIT STATUS
            \(codes.joined(separator: "\n"))

            """
    }

    struct Page {
        var name: String
        var summary: String
        var synopsis: String
        var body: String

        var text: String {
            """
            NAME
              bandferry \(name) - \(summary)

            SYNOPSIS
              bandferry [--config FILE] [--json] \(synopsis)

            DESCRIPTION
            \(body.split(separator: "\n", omittingEmptySubsequences: false).map { $0.isEmpty ? "" : "  \($0)" }
                .joined(separator: "\n"))

            """
        }
    }

    private static let pages = bandPages + uploadPages + peoplePages + readingPages + otherPages

    private static let bandPages: [Page] = [
        Page(
            name: "status", summary: "show how every band and the upload are doing", synopsis: "status",
            body: """
                For each band: mode, MTU, last contact, battery, firmware, age of the newest record, samples stored and
                samples that the server has not confirmed yet. Below, what is wrong and what to do about it.

                Works with the daemon stopped: then it reads the state directory.
                """),
        Page(
            name: "bands", summary: "list the bands that this gateway has taken in", synopsis: "bands",
            body: """
                Where each is named (the configuration file or the state directory), its mode and its device id.
                """),
        Page(
            name: "scan", summary: "listen for bands in range", synopsis: "scan [--seconds N]",
            body: """
                Listens for N seconds, 10 unless given, and lists the bands that were heard, the strongest first.
                """),
        Page(
            name: "adopt", summary: "take a band in",
            synopsis:
                "adopt ADDRESS [--mode own|observe] [--ack stored|upload] [OPTIONS]",
            body: """
                From now on the band is synced. It is written down in the state directory, not in the configuration
                file; what the file says of the same band wins.

                --mode own      acknowledge what is stored, so that the band frees its memory (default)
                --mode observe  store and upload, never acknowledge: for a band that another gateway owns
                --ack stored    of an owned band: acknowledge when records are stored here (default)
                --ack upload    when the server has confirmed them: the band keeps its copy until then
                --name NAME     how status calls it; no other adopted band may have that name
                --device-id ID  its name at the server; band_ and the twelve digits of the address unless given

                --no-pair       ask nothing: the band is paired when it is synced, if that needs nobody

                At a terminal the band is paired first, if it is in range and asks for it: you are asked for the digits that
                it shows, or whether they are the same, or shown the digits to enter there. You have a minute for each;
                Ctrl-C gives up and changes nothing. Put the band into pairing mode before. Without a terminal, it is as
                with --no-pair, and so with --json.

                --json: {"address", "device_id", "name", "mode", "ack"}, with name null unless given.
                """),
        Page(
            name: "pair", summary: "pair a band anew", synopsis: "pair BAND",
            body: """
                Removes the bond that this host has with an adopted band, if there is one, and makes a new one: when the band
                has lost it, or the passkey was wrong. Put the band into pairing mode before. Asks what 'adopt' asks, at a
                terminal; Ctrl-C gives up.

                BAND is an address, a device id or a name.
                --json: {"address", "paired"}.
                """),
        Page(
            name: "forget", summary: "stop syncing a band", synopsis: "forget BAND",
            body: """
                Its rows are kept and go on being uploaded; 'adopt' takes it in again and resumes where it was, and
                nothing else does, 'adopt = any' included. A band that never gave anything is no longer listed.
                A band that the configuration file names is not forgotten: the error says what to change there.

                BAND is an address, a device id or a name.
                --json: {"address", "adopted"}, which is false.
                """),
        Page(
            name: "sync", summary: "sync now", synopsis: "sync [--no-ack] [BAND]",
            body: """
                Connects, takes in what is new and shows how far it is; every band unless one is named, by address, device
                id or name.

                --no-ack  store and upload, but do not acknowledge: the band keeps its records
                """),
    ]

    private static let otherPages: [Page] = [
        Page(
            name: "doctor", summary: "check everything and say what to do", synopsis: "doctor",
            body: """
                Looks at the adapter, bluetoothd, the bands as BlueZ shows them, this host's clock and disk, the
                configuration, the daemon and the server, and names each thing that is amiss with its code, how grave it
                is, and what to do. It changes nothing and disturbs no sync. It ends after 20 seconds at the latest, or 30
                where it asks the daemon once more.

                Works with the daemon running or stopped, as root or not; what this user may not look at is said. As root
                it sees most. The exit status is 0 when nothing is wrong (notices aside), 9 when there are warnings, 10
                when there are errors. conditions.md in share/doc/bandferry explains each code.
                """),
        Page(
            name: "recover", summary: "go on after the database was corrupt",
            synopsis: "recover [--start-empty]",
            body: """
                The daemon brings what can be read of a damaged database over into a new one by itself. This does the same
                for one that was set aside, or that a medium gives only in parts: what can't be read is skipped. The
                damaged one is kept.

                --start-empty  give up what only the damaged database has: starts a new one from what the server
                               knows, and writes down as gaps what is lost

                Stop the daemon first.

                --json: {"state_directory", "kept_as", "damaged_tables"}; with --start-empty the last two are null.
                """),
        Page(
            name: "version", summary: "print the version", synopsis: "version",
            body: """
                One line: the version of bandferry, which is that of bandferryd too when both were installed as one.
                --json: {"version"}.
                """
        ),
        Page(
            name: "help", summary: "print this, or the page of a command", synopsis: "help [COMMAND]",
            body: "Pages are plain text for any terminal."),
    ]
}
