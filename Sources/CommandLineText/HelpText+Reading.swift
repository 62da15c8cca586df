extension HelpText {
    /// What is read from what is stored here, with the daemon stopped or running.
    static let readingPages: [Page] = [
        Page(
            name: "gaps", summary: "list the times of which data is missing",
            synopsis: "gaps [BAND] [--all]",
            body: """
                For each band: from when to when nothing is there, which records are missing, why, and whether they can
                still come back. Times are those of this host's time zone.

                --all  list those that have healed, too: their records came after all

                BAND is an address, a device id or a name; every band unless one is named. --device BAND says the same.
                Works with the daemon stopped or running. --json has every field.
                """),
        Page(
            name: "trends", summary: "show what was measured, by day or by hour",
            synopsis: "trends [BAND | --person NAME] [--days N] [--type TYPE] [--hours] [--tz ZONE]",
            body: """
                Heart rate, steps, oxygen saturation and sleep of the last days, today included, from what is stored here.
                A sample counts on the civil day on which it was measured where its wearer was then. A day without data is
                shown as such. Heart rates of a band that was not worn, and samples whose time can't be trusted, are left
                out.

                --days N       how many days, 14 unless given
                --type TYPE    heart_rate, steps, spo2 or sleep_stage; all unless given
                --person NAME  of one person, whichever bands they wore; a name or an id
                --hours        by hour instead of by day
                --tz ZONE      for samples that have no UTC offset, and for how long a day is: an IANA name such as
                               Europe/Berlin; this host's zone unless given

                BAND is one band, whoever wore it: an address, a device id or a name; every band unless one is named.
                --device BAND says the same.
                Works with the daemon stopped or running, and without a server.
                """),
        Page(
            name: "export", summary: "write every stored sample to stdout",
            synopsis: "export --format jsonl|csv [BAND]",
            body: """
                One line a sample, ordered by device, ring and sequence number, with the columns
                \(ExportFormat.columns.prefix(8).joined(separator: ", ")),
                \(ExportFormat.columns.dropFirst(8).prefix(5).joined(separator: ", ")),
                \(ExportFormat.columns.dropFirst(13).joined(separator: ", ")).

                jsonl  one JSON object a line
                csv    the same columns, the names first; an empty tz_offset_min is not known

                BAND is an address, a device id or a name; every band unless one is named. --device BAND says the same.
                Works with the daemon stopped or running.
                """),
    ]
}
