import Glibc

/// Where the clusters of this process live: one directory, and one fresh cluster in it that the others are copies of.
///
/// A watchdog ends every server and removes the directory when this process is gone, however it ended.
final class Workshop: Sendable {
    static let shared = Result { try Workshop() }

    let directory: String
    let programs: Programs
    let template: String

    private init() throws {
        programs = try Programs()
        var name = Array("/tmp/bandferry-pg.XXXXXX".utf8CString)
        guard mkdtemp(&name) != nil else { throw Programs.Failure(description: "mkdtemp failed in /tmp") }
        directory = String(decoding: name.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
        template = directory + "/template"
        if let owner = programs.owner { chown(directory, owner.user, owner.group) }
        try Self.watch(directory)
        let initdb = programs.command(
            "initdb",
            [
                "--pgdata", template, "--username", "bandferry", "--auth", "trust", "--encoding", "UTF8",
                "--locale", "C", "--no-sync",
            ])
        try Programs.run(initdb, log: directory + "/initdb.log")
        try Self.guardOneRole(template + "/pg_hba.conf")
    }

    /// A role that needs its password, for tests that give the wrong one.
    private static func guardOneRole(_ path: String) throws {
        let text = "local all guarded scram-sha-256\n" + Programs.text(of: path)
        let descriptor = open(path, O_WRONLY | O_TRUNC | O_CLOEXEC)
        guard descriptor >= 0 else { throw Programs.Failure(description: "can't write \(path)") }
        defer { close(descriptor) }
        let bytes = Array(text.utf8)
        guard write(descriptor, bytes, bytes.count) == bytes.count else {
            throw Programs.Failure(description: "can't write \(path)")
        }
    }

    private static func watch(_ directory: String) throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Programs.Failure(description: "pipe failed") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        // The writing end stays open until this process ends; then `cat` does.
        let script = """
            trap '' INT TERM HUP; cat >/dev/null
            for process in /proc/[0-9]*; do
                case $(readlink "$process/cwd") in "$0"/*) kill -KILL "${process#/proc/}" ;; esac
            done 2>/dev/null
            rm -rf "$0"
            """
        _ = try Programs.start(["sh", "-c", script, directory], input: ends[0], log: "/dev/null")
        close(ends[0])
    }
}
