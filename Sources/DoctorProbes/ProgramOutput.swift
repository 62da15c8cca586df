import Glibc

/// Runs a program for the one line that it prints.
enum ProgramOutput {
    /// Nil when it could not be run, printed nothing, or took longer than `milliseconds`; it is ended then.
    static func firstLine(of path: String, _ argument: String, within milliseconds: Int32) -> String? {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { return nil }
        defer { close(ends[0]) }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0)
        posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        posix_spawn_file_actions_addclose(&actions, ends[0])
        posix_spawn_file_actions_addclose(&actions, ends[1])
        var process = pid_t()
        let arguments = [strdup(path), strdup(argument), nil]
        let environment = [strdup("PATH=/usr/bin:/bin"), nil]
        defer { for text in arguments + environment { free(text) } }
        let code = posix_spawn(&process, path, &actions, nil, arguments, environment)
        close(ends[1])
        guard code == 0 else { return nil }
        let line = read(ends[0], within: milliseconds)
        kill(process, SIGKILL)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        return line
    }

    private static func read(_ descriptor: Int32, within milliseconds: Int32) -> String? {
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 256)
        while !bytes.contains(10), bytes.count < 4096 {
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, milliseconds) > 0 else { return nil }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            guard count > 0 else { break }
            bytes += buffer.prefix(count)
        }
        let line = bytes.prefix { $0 != 10 }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }
}
