import Glibc

/// A dbus-daemon of its own for one test; ended when the value goes.
///
/// Started with posix_spawn: Foundation's Process waits in run loops, which stalls many tests at once.
final class PrivateBus: @unchecked Sendable {
    struct Failure: Error {}

    let address: String
    private var process: pid_t = 0

    init() throws {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure() }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, ends[1], 1)
        // The daemon's complaint that it may not raise its descriptor limit is no news here.
        posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", O_WRONLY, 0)
        let words = ["dbus-daemon", "--session", "--nofork", "--nopidfile", "--print-address"]
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        let code = posix_spawnp(&process, "dbus-daemon", &actions, nil, &arguments, environ)
        close(ends[1])
        guard code == 0 else { throw Failure() }
        var text: [UInt8] = []
        var byte: UInt8 = 0
        while read(ends[0], &byte, 1) == 1, byte != UInt8(ascii: "\n") { text.append(byte) }
        address = String(decoding: text, as: UTF8.self)
    }

    func stop() {
        guard process > 0 else { return }
        kill(process, SIGKILL)
        waitpid(process, nil, 0)
        process = 0
    }

    deinit { stop() }
}
