extension HelpText {
    /// What has to do with the server.
    static let uploadPages: [Page] = [
        Page(
            name: "upload", summary: "ask and tell the upload to the server",
            synopsis: "upload status | now | pause | resume | retry",
            body: """
                upload status
                    What is still to go up, what is under way, what it waits for and until when, the last success and the
                    last failure. Samples that do not go up are listed by band, reason and code: how many, which records,
                    from when; never a value. Works with the daemon stopped: then it reads the state directory.
                upload now [--wait TIME]
                    Sends what there is, whatever the gateway's own waits are, and says what went up. It waits a minute at
                    most, or TIME; 0 only begins. A time for which the server asked for silence is kept to.
                upload pause [--for TIME]
                    Nothing is sent until 'upload resume', or for TIME, also after a restart. Bands are still synced and
                    their memory freed, as the samples are safe here; where a record is missing the server is still asked
                    whether another gateway has it, because a band waits for that.
                upload resume
                    The upload goes on.
                upload retry [BAND]
                    What the server refused is tried again, of one band or of all.

                --json: an object for each. status has all; now {"sent", "left", "timed_out", "problem", "waits_until"};
                pause {"since", "until"}; resume {"paused"}, which is null; retry {"samples"}.

                TIME is written as 90s, 45m, 2h, 1h30m or 3d. BAND is an address, a device id or a name.
                """),
        Page(
            name: "reconcile", summary: "compare what is here with what the server has",
            synopsis: "reconcile [BAND] [--days N] [--dry-run]",
            body: """
                For each UTC day, ring and type the samples that the server has confirmed are compared with those that it
                has. Where counts differ its samples are read, and exactly those that it lacks go up again. What only the
                server has (another gateway's, say) is named and left alone. What the server has let go because it was
                old enough is no difference. Nothing that the band holds is touched.

                --days N   the last N days; all unless given
                --dry-run  say what differs, and change nothing

                One at a time; it may be broken off at any moment. BAND is an address, a device id or a name; every band
                unless one is named.
                """),
        Page(
            name: "replace", summary: "take over the bands of a gateway that is gone",
            synopsis: "replace [BAND... | --all] [--dry-run] [--force] [--address ADDRESS]",
            body: """
                Without a band: lists the bands that the server knows, when each was last met, and which gateway owns it.

                With bands, or --all for every one that is not owned here: each is adopted as owned under its device id and
                read from where the server has all of it. Gaps and persons that the server knows come with it. Nothing is
                acknowledged that the server does not have.

                A band that another gateway still holds is refused: that gateway may be at work. Its hold ends by itself
                when it is not heard of (lease_seconds of its configuration, an hour unless set).

                --dry-run          say what would be done
                --force            take it over now: it is stored and uploaded at once, and acknowledged once the other
                                   gateway's hold has ended
                --address ADDRESS  of the one band that is named, where its device id does not tell it

                BAND is a device id, an address, or a name that it has here. moving-to-a-new-card.md in share/doc/bandferry
                walks through it.
                """),
    ]
}
