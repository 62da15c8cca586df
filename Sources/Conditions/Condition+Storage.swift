/// The database, by what SQLite or the kernel said, and the disk under it.
extension Condition {
    static let storageRows: [Condition] = [
        storeFull, storeReadOnly, storeCorrupt, storeNewerSchema, storeIO, storeBusy, storeLocked,
        storeMissing, storeMoved,
        storeDirectory, storeRefused, storeClosed, storeOther, storeLowSpace, storeOpening, storeSalvaged,
        storeSalvagedInPart, storeSalvagedReadings, diskSlow, diskVerySlow, spaceLow,
        spaceGone, spaceBelowFloor,
    ]

    public static let storeFull = Condition(
        "store_full", .error, "{operation}: {message}.",
        fix: "Free space on this file system; syncing goes on by itself.")
    public static let storeReadOnly = Condition(
        "store_read_only", .error, "{operation}: {message}.",
        fix: "Make the file system and the file writable for the daemon's user.")
    public static let storeCorrupt = Condition(
        "store_corrupt", .error, "{operation}: {message}.",
        fix:
            "Run `bandferry recover`, restore gateway.db from a backup, or `bandferry recover --start-empty` to start without "
            + "it."
    )
    public static let storeNewerSchema = Condition(
        "store_newer_schema", .error, "{operation}: {message}.",
        fix: "Run the version of Bandferry that wrote it, or a newer one.")
    public static let storeIO = Condition(
        "store_io", .error, "{operation}: {message}.",
        fix: "Check the medium and the kernel's log; syncing goes on when writes work again.")
    public static let storeBusy = Condition(
        "store_busy", .warning, "{operation}: {message}.",
        fix: "Try again; close other programs that have the database open.")
    public static let storeLocked = Condition(
        "store_locked", .error, "{operation}: {message}.",
        fix: "Stop the other daemon, or give this one a state directory of its own.")
    public static let storeMissing = Condition(
        "store_missing", .error, "{operation}: {message}.",
        fix: "Start the daemon once, or check state_directory in the configuration.")
    public static let storeMoved = Condition(
        "store_moved", .error, "{operation}: {message}.",
        fix:
            "Nothing is acknowledged until it was opened again, which happens by itself. Don't remove or replace the files "
            + "of a daemon that runs: stop it first (docs/moving-to-a-new-card.md).")
    public static let storeDirectory = Condition(
        "store_directory", .error, "{operation}: {message}.",
        fix: "Make it a directory that belongs to the daemon's user, with mode 0700.")
    public static let storeRefused = Condition(
        "store_refused", .error, "{operation}: {message}.", fix: "Report this as a defect.")
    public static let storeClosed = Condition(
        "store_closed", .error, "{operation}: {message}.", fix: "Start the daemon again.")
    public static let storeOther = Condition(
        "store_other", .error, "{operation}: {message}.", fix: "See the message; report it if it stays.")

    public static let storeLowSpace = Condition(
        "store_low_space", .error, "{operation}: {message}.",
        fix:
            "Free space on this file system, or lower free_space_floor in the configuration; it goes on by itself."
    )
    public static let storeOpening = Condition(
        "store_opening", .warning, "The database is being checked, or salvaged.",
        fix: "Wait: a large one takes some minutes. Nothing is acknowledged meanwhile.")
    private static let salvagedFix =
        "Nothing has to be done for the data: what the bands and the server lack, too, is named in the gaps. A database is "
        + "seldom damaged by itself: check the medium and the power supply. The damaged one is {kept}; remove it when it is of "
        + "no use."
    public static let storeSalvaged = Condition(
        "store_salvaged", .warning,
        "The database was damaged; {samples} sample(s) were brought over into a new one, no sample that the server lacks was "
            + "lost.",
        fix: salvagedFix)
    public static let storeSalvagedInPart = Condition(
        "store_salvaged", .warning, "part",
        "The database was damaged; {samples} sample(s) were brought over into a new one, {lost} record(s) could not be read "
            + "and are asked for again.",
        fix: salvagedFix)
    public static let storeSalvagedReadings = Condition(
        "store_salvaged", .warning, "readings",
        "The database was damaged; {samples} sample(s) were brought over into a new one, {lost} record(s) could not be read "
            + "and are asked for again. Second readings, which bands gave of a record with other content, may be lost as well: "
            + "how many can't be told, and the bands are asked again for what they still have.",
        fix: salvagedFix)

    public static let diskSlow = Condition(
        "disk_slow", .warning,
        "The disk under {directory} is slow: of {count} synced writes of 4 kB the 99th percentile took {p99} ms, the slowest "
            + "{slowest} ms.",
        fix: slowFix)
    public static let diskVerySlow = Condition(
        "disk_slow", .warning, "few",
        "The disk under {directory} is very slow: only {count} synced write(s) of 4 kB fitted into the time for this check, at "
            + "least half of them took {median} ms or more, the slowest {slowest} ms.",
        fix: slowFix)
    private static let slowFix =
        "Put the state directory on a better medium: an SSD on USB, or an SD card of class A1 or A2 "
        + "(docs/moving-to-a-new-card.md). Samples are safe; each commit waits this long."
    public static let spaceLow = Condition(
        "space_low", .warning, "little", "{free} MB are free under {directory}: that is little.",
        fix:
            "Free space on this file system (`journalctl --vacuum-size=100M`, `apt clean`), or move the state directory to a "
            + "larger one.")
    public static let spaceGone = Condition(
        "space_gone", .error,
        "{free} MB are free under {directory}: soon nothing can be stored, and no band is acknowledged.",
        fix:
            "Free space on this file system at once (`journalctl --vacuum-size=100M`, `apt clean`), or move the state directory "
            + "to a larger one.")
    public static let spaceBelowFloor = Condition(
        "space_gone", .error, "floor",
        "{free} MB are free under {directory}: that is less than free_space_floor ({floor} MB) and what the database's log may "
            + "need, so nothing is stored, and no band is acknowledged.",
        fix:
            "Free space on this file system at once (`journalctl --vacuum-size=100M`, `apt clean`), move the state directory to "
            + "a larger one, or lower free_space_floor under [storage].")
}
