/// One band: its link, its bond, its history.
extension Condition {
    static let bandRows: [Condition] =
        [
            bandUnreachable, linkLost, interrupted, stalled, bandProtocol, heldByAnotherProgram,
            heldByAnotherProgramNow, notPermitted, notPaired, pairingFailed, bondStale,
            bandForgotten,
            noBandHistory, cacheStale, bandBusy, bandKnowsNoCommand, bandWrongLength, bandNotSubscribed,
            bandError,
            attributeError, alreadyDone, cancelled,
        ] + bondRows + [
            mtuSmall, weakSignal, stoppedRecording, samplesRefused, recordsConflict, recordsUndecodable,
            historyGaps, neverMet, observing, observingUnanswered, bandWaitsForServer, bandWaitsForServerFull,
        ]

    public static let bandUnreachable = Condition(
        "band_unreachable", .warning,
        "Could not {operation}: the band was not reached, or the link broke{detail}.",
        fix: "Bring the band nearer and away from metal; it is tried again by itself.")
    public static let linkLost = Condition(
        "link_lost", .notice, "Could not {operation}: there is no link to the band{detail}.",
        fix: "Nothing: the gateway connects again and resumes.")
    public static let interrupted = Condition(
        "link_lost", .notice, "sync", "The link to the band went down during the sync.",
        fix: "Nothing is lost: the sync resumes by itself. If it happens often, bring the band nearer.")
    public static let stalled = Condition(
        "stalled", .warning, "The band stopped sending its history several times.",
        fix: "The gateway tries again by itself. If it goes on, restart the band.")
    public static let bandProtocol = Condition(
        "band_protocol", .error, "{what}.",
        fix: "The gateway tries again by itself. If it goes on, update the band's firmware.")
    public static let heldByAnotherProgram = Condition(
        "held_by_another_program", .error,
        "Could not {operation}: another program holds the band's notifications{detail}.",
        fix: "Stop the other program that is connected to this band, such as bluetoothctl or Home Assistant.")
    public static let heldByAnotherProgramNow = Condition(
        "held_by_another_program", .error, "now",
        "Another program than bandferryd holds the notifications of band {band}.",
        fix:
            "Stop the other program that is connected to this band, such as bluetoothctl or Home Assistant; or cut the link "
            + "with `bluetoothctl disconnect {band}`.")
    public static let notPermitted = Condition(
        "not_permitted", .error, "Could not {operation}: the band does not permit it{detail}.",
        fix:
            "Check that the band speaks Band History Profile 1; remove the band with `bluetoothctl remove` if its firmware "
            + "was changed.")
    public static let notPaired = Condition(
        "not_paired", .warning, "Could not {operation}: the band asks for pairing{detail}.",
        fix: "Put the band into pairing mode; the gateway pairs by itself.")
    public static let pairingFailed = Condition(
        "pairing_failed", .error, "Could not {operation}: pairing failed{detail}.",
        fix:
            "Put the band into pairing mode and run `bandferry pair {band}` at a terminal: an old bond is removed first."
    )
    public static let bondStale = Condition(
        "bond_stale", .error,
        "BlueZ keeps a bond with band {band} that does not work: {evidence}. The band has probably lost its keys.",
        fix:
            "Put the band into pairing mode and run `bandferry pair {band}`: it removes the old bond and makes a new one."
    )
    public static let bandForgotten = Condition(
        "band_forgotten", .notice, "Could not {operation}: BlueZ does not know it any more{detail}.",
        fix: "Nothing: the gateway searches for the band again.")
    public static let noBandHistory = Condition(
        "no_band_history", .error, "Could not {operation}: the band shows no Band History service{detail}.",
        fix:
            "If the band's firmware was changed, run `bluetoothctl remove {band}` so that BlueZ forgets what it remembers of "
            + "it. That takes a bond as well: a band that was paired is paired again with `bandferry pair {band}`."
    )
    public static let cacheStale = Condition(
        "cache_stale", .error,
        "BlueZ shows band {band} with services resolved, but without the characteristics of Band History: it remembers what "
            + "the band was before its firmware changed.",
        fix:
            "Run `bluetoothctl remove {band}` and `rm -f /var/lib/bluetooth/*/cache/{band}`, then `systemctl restart "
            + "bluetooth` and `bandferry sync {band}`. That takes a bond as well: a band that was paired is paired again with "
            + "`bandferry pair {band}` first.")
    public static let bandBusy = Condition(
        "band_error_0x80", .warning, "Could not {operation}: the band is busy with a stream{detail}.",
        fix: "It is tried again by itself; if it stays so, restart the band.")
    public static let bandKnowsNoCommand = Condition(
        "band_error_0x81", .warning, "Could not {operation}: the band does not know the command{detail}.",
        fix: "It is tried again by itself; if it stays so, update the band's firmware.")
    public static let bandWrongLength = Condition(
        "band_error_0x82", .warning,
        "Could not {operation}: the band found the command's length wrong{detail}.",
        fix: "It is tried again by itself; if it stays so, restart the band.")
    public static let bandNotSubscribed = Condition(
        "band_error_0x83", .warning,
        "Could not {operation}: the band says that notifications are not enabled{detail}.",
        fix: "It is tried again by itself; if it stays so, restart the band.")
    public static let bandError = Condition(
        "band_error", .warning,
        "Could not {operation}: the band answered with its own error {error}{detail}.",
        fix: "It is tried again by itself; if it stays so, restart the band.")
    public static let attributeError = Condition(
        "att_error", .warning, "Could not {operation}: the band answered with error {error}{detail}.",
        fix: "It is tried again by itself; if it stays so, restart the band.")
    public static let alreadyDone = Condition(
        "already_done", .notice, "Could not {operation}: it is done already{detail}.", fix: "Nothing.")
    public static let cancelled = Condition(
        "cancelled", .notice, "Could not {operation}: it was given up{detail}.",
        fix: "Nothing: it is tried again by itself.")

    // MARK: what the figures say

    public static let mtuSmall = Condition(
        "mtu_small", .warning,
        "The MTU is {mtu}, below {preferred}: a packet carries {records} instead of 15, so a sync takes longer.",
        fix:
            "Set ExchangeMTU = 517 under [GATT] in /etc/bluetooth/main.conf and restart bluetooth. If it stays so, the band "
            + "allows no more.")
    public static let weakSignal = Condition(
        "weak_signal", .warning, "Band {band} is heard with {rssi} dBm only; below {limit} dBm links break.",
        fix:
            "Bring the band and the gateway nearer to each other, away from metal and USB 3 plugs; put a dongle on an extension "
            + "cable of a metre.")
    public static let stoppedRecording = Condition(
        "stopped_recording", .warning,
        "The band was in contact and has nothing new: its newest record is {age} older than the contact.",
        fix:
            "Wear the band and see that it measures, and charge it. If it still records nothing, restart it, or reset it as its "
            + "maker says: what it held is here.")
    public static let samplesRefused = Condition(
        "samples_refused", .warning, "The server refused {count}; they are kept here.",
        fix: "Look for 'refused' in journalctl -u bandferryd; they go again when the server takes them.")
    public static let recordsConflict = Condition(
        "records_conflict", .notice, "{count} came a second time with other content; both are kept.",
        fix: "Update the band's firmware, or report the band to its maker.")
    public static let recordsUndecodable = Condition(
        "records_undecodable", .notice, "{count} could not be decoded; the raw bytes are kept.",
        fix: "A newer bandferry may read them; nothing is lost.")
    public static let historyGaps = Condition(
        "history_gaps", .notice, "{count} in the history.", fix: "bandferry gaps lists them.")
    public static let neverMet = Condition(
        "never_met", .notice, "This gateway has never met this band.",
        fix:
            "'bandferry scan' lists the bands in range. If it is not among them, charge it and bring it nearer; see also that its "
            + "address is right. One that is not meant to be here goes with 'bandferry forget'.")
    public static let observing = Condition(
        "observing", .notice,
        "The server says that another gateway ({holder}) owns this band, for now until {until}: here it is stored and "
            + "uploaded, and not acknowledged.",
        fix:
            "Nothing, if that gateway is meant to own it; then write mode = observe here. If it is gone, this one takes over by "
            + "itself when its time is over.")
    public static let observingUnanswered = Condition(
        "observing", .notice, "unanswered",
        "The server has not said yet whether this gateway may own this band: until then it is stored here and not "
            + "acknowledged. Nothing is lost while the band's memory has room.",
        fix:
            "See that the server can be reached and lets this gateway's token own bands: 'bandferry upload status' says what is in "
            + "the way, and what to do about it.")
    private static let waitingFix =
        "'bandferry upload' says what keeps the upload. Nothing is lost while this gateway has its storage; with ack = stored "
        + "the band need not wait for the server."
    public static let bandWaitsForServer = Condition(
        "band_waits_for_server", .warning,
        "The band keeps {kept} records for the server, from seq {oldest} on. Its memory has room for {left} more; then it "
            + "overwrites the oldest, which are stored here and nowhere else.",
        fix: waitingFix)
    public static let bandWaitsForServerFull = Condition(
        "band_waits_for_server", .warning, "full",
        "The band keeps {kept} records for the server, from seq {oldest} on. Its memory is full: it overwrites the oldest, "
            + "which are stored here and nowhere else.",
        fix: waitingFix)
}
