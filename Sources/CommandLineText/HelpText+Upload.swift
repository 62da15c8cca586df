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

                TIME is written as 90s, 45m, 2h, 1h30m or 3d. BAND is an address, a device id or a name.
                """)
    ]
}
