import CLinux
import GatewayModel

#if canImport(Glibc)
    import Glibc
#endif

/// The directory that holds everything the gateway keeps: 0700, the daemon's own.
struct StateDirectory {
    let path: String

    var databasePath: String { path + "/" + Schema.fileName }

    /// Makes the directory, or checks that it can be used as it is.
    func prepare() throws(StoreError) {
        if mkdir(path, 0o700) != 0 {
            guard errno == EEXIST else { throw failure("create the state directory") }
        }
        var facts = stat()
        guard stat(path, &facts) == 0 else { throw failure("look at the state directory") }
        guard facts.st_mode & S_IFMT == S_IFDIR else {
            throw StoreError(
                kind: .directory, operation: "look at the state directory", path: path,
                message: "not a directory")
        }
        guard facts.st_mode & 0o077 != 0 else { return }
        // Health data: what others may read is closed, and only if that can't be done is it an error.
        guard chmod(path, 0o700) == 0 else { throw failure("close the state directory to others") }
    }

    // MARK: Whether there was a database

    /// A database was opened here once. Without it, an empty directory would look like a new gateway's after the
    /// file was lost, and what was acked would be missed by nobody.
    var hadDatabase: Bool { access(markerPath, F_OK) == 0 }

    private var markerPath: String { databasePath + ".made" }

    /// Keeps the gateway's name, too: a new database after a loss is that of the same gateway.
    func rememberDatabase(of gateway: String) throws(StoreError) {
        if hadDatabase, rememberedGateway == gateway { return }
        let descriptor = open(markerPath, O_CREAT | O_WRONLY | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("note that there is a database") }
        defer { close(descriptor) }
        // All of it fits one block. A name that was cut off is none, and is written again.
        guard gateway.withCString({ pwrite(descriptor, $0, strlen($0), 0) }) == gateway.utf8.count else {
            throw failure("note the gateway's name")
        }
        fsync(descriptor)
        try sync()
    }

    /// Nil where an older program made the database.
    var rememberedGateway: String? { text(of: markerPath) }

    /// Of a small file; nil when there is none, or nothing in it.
    private func text(of path: String) -> String? {
        let descriptor = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 64)
        let count = pread(descriptor, &bytes, bytes.count, 0)
        return count > 0 ? String(decoding: bytes.prefix(count), as: UTF8.self) : nil
    }

    /// The file is there and holds nothing, as file systems leave some after a power cut.
    var isDatabaseEmpty: Bool {
        var facts = stat()
        return stat(databasePath, &facts) == 0 && facts.st_size == 0
    }

    /// Makes an empty database file that only its owner can read, and its name durable. SQLite gives `-wal` and
    /// `-shm` the mode of the database.
    func createDatabaseFile() throws(StoreError) {
        let descriptor = open(databasePath, O_CREAT | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("create the database") }
        close(descriptor)
        try sync()
    }

    /// Makes names in the directory durable.
    func sync() throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure("open the state directory") }
        defer { close(descriptor) }
        guard fsync(descriptor) == 0 else { throw failure("sync the state directory") }
    }

    /// Throws for anything but a file: to open a pipe waits until somebody writes to it, for ever.
    func requireRegularDatabase() throws(StoreError) {
        var facts = stat()
        guard stat(databasePath, &facts) == 0, facts.st_mode & S_IFMT != S_IFREG else { return }
        throw StoreError(
            kind: .directory, operation: "look at the database", path: databasePath,
            message: "it is not a regular file", remedy: "Move away what has the name of the database.")
    }

    var hasDatabase: Bool { access(databasePath, F_OK) == 0 }
    var hasLog: Bool { access(databasePath + "-wal", F_OK) == 0 }
    /// Only while a database is being made: from then on it has a write-ahead log.
    var hasJournal: Bool { access(databasePath + "-journal", F_OK) == 0 }

    // MARK: Damaged databases

    /// Databases that were set aside, without what salvage left beside a database that is in use again.
    func setAside() throws(StoreError) -> [String] { try names(Schema.fileName + ".\(Self.corrupt)-") }

    private static let corrupt = "corrupt"

    /// Damaged databases whose readable rows live on in the one that is in use, the oldest first.
    func salvagedFrom() throws(StoreError) -> [String] { try names(Schema.fileName + ".salvaged-") }

    private func names(_ prefix: String) throws(StoreError) -> [String] {
        guard let listing = opendir(path) else { throw failure("list the state directory") }
        defer { closedir(listing) }
        var names: [String] = []
        while let entry = readdir(listing) {
            // In place: an entry is shorter than its type says, and a copy of the whole would read beyond the listing.
            guard let offset = MemoryLayout<dirent>.offset(of: \.d_name) else { break }
            let name = String(cString: (UnsafeRawPointer(entry) + offset).assumingMemoryBound(to: CChar.self))
            if name.hasPrefix(prefix), !Self.companions.contains(where: name.hasSuffix) { names.append(name) }
        }
        return names.sorted()
    }

    private static let companions = ["-wal", "-shm", "-journal"]

    /// Renames the database and its log together, never deletes. Returns the new name.
    func setDatabaseAside(at now: Timestamp, as kind: String = Self.corrupt) throws(StoreError) -> String {
        var name = "\(Schema.fileName).\(kind)-\(now.milliseconds)"
        while access(path + "/" + name, F_OK) == 0 { name += "x" }
        // The log first: a database without its log is the worse half to find alone.
        for suffix in Self.companions + [""] {
            let from = databasePath + suffix
            guard access(from, F_OK) == 0 else { continue }
            guard rename(from, path + "/" + name + suffix) == 0 else {
                throw failure("set the database aside")
            }
        }
        if kind == Self.corrupt { noteAwaited(name) }
        try sync()
        return name
    }

    /// The one that was set aside last and is waited for: nobody has decided about it yet. Nil once a person started empty or put
    /// another one in place.
    var awaited: String? {
        guard let name = text(of: awaitedPath), name.hasPrefix(Schema.fileName + ".\(Self.corrupt)-"),
            !name.contains("/"), access(path + "/" + name, F_OK) == 0
        else { return nil }
        return name
    }

    private var awaitedPath: String { databasePath + ".awaited" }

    func forgetAwaited() { unlink(awaitedPath) }

    /// Where this can't be written down, a person puts it back with `bandferry recover`.
    private func noteAwaited(_ name: String) {
        let descriptor = open(awaitedPath, O_CREAT | O_WRONLY | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = name.withCString { pwrite(descriptor, $0, strlen($0), 0) }
        fsync(descriptor)
    }

    /// The reverse of setting one aside.
    func putBack(_ name: String) throws(StoreError) {
        unlink(path + "/" + name + "-shm")
        // The log first: a database without it would be taken for whole.
        for suffix in Self.companions.filter({ $0 != "-shm" }) + [""] {
            let from = path + "/" + name + suffix
            guard access(from, F_OK) == 0 else { continue }
            guard rename(from, databasePath + suffix) == 0 else { throw failure("put the database back") }
        }
        try sync()
    }

    // MARK: Salvage

    /// Where rows are copied to; worth nothing until it has the name below.
    var salvagePath: String { databasePath + ".salvaging" }
    /// Complete: from the moment that this name is there, it is the database, and the swap only has to be ended.
    private var readyPath: String { databasePath + ".salvaged" }

    /// Salvaged databases that are kept beside the one in use.
    private static let copiesKept = 3

    func removeSalvage() {
        for suffix in Self.companions + [""] { unlink(salvagePath + suffix) }
    }

    /// An empty file for the copy, that only its owner can read.
    func createSalvage() throws(StoreError) {
        removeSalvage()
        let descriptor = open(salvagePath, O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw failure("create the copy of what can be read") }
        close(descriptor)
    }

    /// The copy, closed and durable, takes the place of the damaged database. Returns what that is called now.
    func finishSalvage(at now: Timestamp) throws(StoreError) -> String {
        for suffix in Self.companions { unlink(salvagePath + suffix) }
        // The log went into the damaged file, and what reading it left behind is empty.
        if logSize == 0 { for suffix in ["-wal", "-shm"] { unlink(databasePath + suffix) } }
        guard rename(salvagePath, readyPath) == 0 else { throw failure("end the salvage") }
        try sync()
        return try swapIn(at: now) ?? ""
    }

    /// Ends a swap, also one that a power cut broke off. Nil when there is none to end.
    @discardableResult
    func swapIn(at now: Timestamp) throws(StoreError) -> String? {
        guard access(readyPath, F_OK) == 0 else { return nil }
        let name = try setDatabaseAside(at: now, as: "salvaged")
        guard rename(readyPath, databasePath) == 0 else {
            throw failure("put the salvaged database in place")
        }
        try sync()
        clearSuspicion()
        for old in try salvagedFrom().dropLast(Self.copiesKept) {
            for suffix in Self.companions + [""] { unlink(path + "/" + old + suffix) }
        }
        return name
    }

    // MARK: Suspicion

    enum Suspicion: String {
        /// Damage was met while the database was open: all of it has to be checked.
        case raised
        /// All of it was checked since, and nothing found.
        case checked
        /// Damage was found, or met again after a check that had found nothing: no further check is waited for.
        case proven
    }

    private var suspicionPath: String { databasePath + ".suspect" }

    var suspicion: Suspicion? {
        guard access(suspicionPath, F_OK) == 0 else { return nil }
        return text(of: suspicionPath).flatMap(Suspicion.init) ?? .raised
    }

    /// As durable as can be had: the next start looks closer because of it, no more.
    func note(_ suspicion: Suspicion) {
        let descriptor = open(suspicionPath, O_CREAT | O_WRONLY | O_TRUNC | O_NONBLOCK | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { return }
        defer { close(descriptor) }
        _ = suspicion.rawValue.withCString { pwrite(descriptor, $0, strlen($0), 0) }
        fsync(descriptor)
        try? sync()
    }

    func clearSuspicion() { unlink(suspicionPath) }

    // MARK: Space

    /// Nil where the file system does not say, as one in memory without a limit.
    var freeSpace: Int64? {
        var facts = statvfs()
        guard statvfs(path, &facts) == 0, facts.f_blocks > 0 else { return nil }
        // For this user: what is reserved for root is not there.
        return Int64(clamping: UInt64(facts.f_bavail) * UInt64(facts.f_frsize))
    }

    func size(of file: String) -> Int64 {
        var facts = stat()
        return stat(file, &facts) == 0 ? Int64(facts.st_size) : 0
    }

    var databaseSize: Int64 { size(of: databasePath) }
    var logSize: Int64 { size(of: databasePath + "-wal") }

    // MARK: Helpers

    private func failure(_ operation: String) -> StoreError {
        let number = errno
        let kind: StoreError.Kind =
            switch number {
            case ENOSPC, EDQUOT: .full
            case EROFS: .readOnly
            case EIO: .io
            default: .directory
            }
        return StoreError(
            kind: kind, operation: operation, path: path, message: String(cString: strerror(number)))
    }
}
