extension HelpText {
    private static let timeHelp =
        "TIME is a date and time with a UTC offset, such as 2026-10-03T09:00Z or 2026-10-03T11:00:30+02:00, or now."

    static let peoplePages: [Page] = [
        Page(
            name: "person", summary: "say who wears bands, and in which time zone they are",
            synopsis: "person add NAME | list | remove PERSON | zone PERSON ...",
            body: """
                person add NAME [--id ID] [--share-name]
                    Makes a person and prints the id. The server knows people by this id only; the name stays on this
                    gateway unless --share-name is given. The id is random unless given: give it when another gateway
                    of the same account knows the person already.
                person list
                    Everybody who is known here: id, time zones, and the bands they wear now.
                person remove PERSON
                    PERSON is no longer known here. Refused of somebody who wears or wore a band, or whose samples are
                    stored here. The server keeps the id, and the name where it was shared.
                person zone PERSON ZONE --from TIME
                    From TIME on the person is in ZONE, an IANA name such as Europe/Berlin, until the next such entry. It
                    gives samples a UTC offset where the band does not know one.
                person zone PERSON --remove --from TIME
                    Takes back the entry that begins at TIME.

                PERSON is a name or an id.
                \(timeHelp)
                What is already stored is worked over, and goes up again where it changes.

                --json: add answers the person, as list shows each; zone {"person", "zone", "from"}, with zone null after
                --remove; remove {"person", "removed"}.
                """),
        Page(
            name: "assign", summary: "say who wears a band from when to when",
            synopsis: "assign BAND PERSON --from TIME [--to TIME]",
            body: """
                Samples of the band that were measured in this time are PERSON's, also those that are stored already.
                Without --to it holds until further notice. An assignment of the same band with the same --from replaces
                the one before: so one is given an end. Two people can't have one band at the same time.

                BAND is an address, a device id or a name, PERSON a name or an id.
                \(timeHelp)
                --json: {"band", "person", "from", "to"}, with to null until further notice.
                """),
        Page(
            name: "unassign", summary: "take an assignment back", synopsis: "unassign BAND --from TIME",
            body: """
                The assignment that begins at TIME never was: its samples are nobody's again. To end one instead, give it
                an end with 'bandferry assign BAND PERSON --from TIME --to TIME'.

                BAND is an address, a device id or a name.
                \(timeHelp)
                --json: {"band", "from"}.
                """),
        Page(
            name: "assignments", summary: "list who wore which band when", synopsis: "assignments [BAND]",
            body: """
                Below, the samples that nobody can be said to have worn the band for, because they were measured too near
                to a change of hands.

                BAND is an address, a device id or a name; every band unless one is named.

                Works with the daemon stopped or running.
                """),
    ]
}
