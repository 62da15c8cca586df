import Glibc
import ProcessTestSupport

/// The server's programs, and how they are started: they refuse to run as root.
struct Programs {
    struct Failure: Error, CustomStringConvertible {
        var description: String
    }

    let directory: String
    /// Who runs them: nil = whoever runs the tests.
    let owner: (name: String, user: uid_t, group: gid_t)?

    init() throws {
        guard let directory = Self.newest() else {
            throw Failure(
                description:
                    "no PostgreSQL 15 or later in /usr/lib/postgresql: run scripts/install-packages.sh test")
        }
        self.directory = directory
        guard getuid() == 0 else {
            owner = nil
            return
        }
        guard let entry = getpwnam("postgres") else {
            throw Failure(
                description: "tests that run as root need the user postgres, who comes with Debian's package")
        }
        owner = ("postgres", entry.pointee.pw_uid, entry.pointee.pw_gid)
    }

    private static func newest() -> String? {
        var found = glob_t()
        defer { globfree(&found) }
        guard glob("/usr/lib/postgresql/*/bin/initdb", 0, nil, &found) == 0 else { return nil }
        let paths = (0..<Int(found.gl_pathc)).compactMap { found.gl_pathv[$0].map { String(cString: $0) } }
        return paths.compactMap { path -> (Int, String)? in
            let words = path.split(separator: "/")
            guard let version = Int(words[3]), version >= 15 else { return nil }
            return (version, String(path.dropLast("/initdb".count)))
        }.max { $0.0 < $1.0 }?.1
    }

    /// The words that run one of the server's programs as its owner, in the same process.
    func command(_ program: String, _ arguments: [String]) -> [String] {
        let words = [directory + "/" + program] + arguments
        guard let owner else { return words }
        return ["setpriv", "--reuid", owner.name, "--regid", owner.name, "--init-groups"] + words
    }

    /// Starts a program; `log` gets what it prints.
    static func start(_ words: [String], input: Int32? = nil, log: String) throws -> pid_t {
        let output = ChildProcess.Stream.file(log)
        return try ChildProcess.spawn(
            words, input: input.map { .descriptor($0) } ?? .null, output: output, errors: output)
    }

    /// Starts a program and waits until it ends.
    static func run(_ words: [String], log: String) throws {
        let process = try start(words, log: log)
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0, errno == EINTR {}
        guard status == 0 else {
            throw Failure(description: "\(words.joined(separator: " ")) failed: \(text(of: log))")
        }
    }

    static func text(of path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        let count = read(descriptor, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
