import CProcess
import Glibc
import Locking

/// A program that a test runs.
///
/// Started with posix_spawn. Foundation's Process watches its children with select(2), which writes beyond its sets from
/// descriptor 1,024 on, and its children inherit blocked signals; many tests at once have so many descriptors.
public final class ChildProcess: Sendable {
    /// What a stream of the program is.
    public enum Stream: Sendable {
        case null
        case descriptor(Int32)
        /// Appended to; made when it is not there.
        case file(String)
    }

    public struct Failure: Error, CustomStringConvertible {
        public var description: String

        public init(_ description: String) { self.description = description }
    }

    public let id: pid_t
    /// Its exit status, or the negative number of the signal that ended it; nil = it was not waited for yet.
    private let ending = Guarded<Int32?>(nil)

    /// - Parameter environment: nil = that of this process.
    public init(
        _ program: String, _ arguments: [String] = [], environment: [String: String]? = nil,
        input: Stream = .null, output: Stream = .null, errors: Stream = .null
    ) throws {
        id = try Self.spawn(
            [program] + arguments, environment: environment, input: input, output: output, errors: errors)
    }

    deinit {
        kill(SIGKILL)
        _ = wait(seconds: 10)
    }

    /// Nothing happens to one that has ended.
    public func kill(_ signal: Int32) {
        ending.withLock { if $0 == nil { _ = Glibc.kill(id, signal) } }
    }

    public var isRunning: Bool { look() == nil }

    /// Nil = it did not end in time.
    public func wait(seconds: Double) -> Int32? {
        for _ in 0..<max(1, Int(seconds * 200)) {
            if let ending = look() { return ending }
            usleep(5_000)
        }
        return look()
    }

    private func look() -> Int32? {
        ending.withLock { ending in
            if ending != nil { return ending }
            var status: Int32 = 0
            guard waitpid(id, &status, WNOHANG) == id else { return nil }
            let signal = status & 0x7f
            ending = signal == 0 ? (status >> 8) & 0xff : -signal
            return ending
        }
    }

    /// Starts a program without waiting for its end, which its caller has to do.
    public static func spawn(
        _ words: [String], environment: [String: String]? = nil, input: Stream = .null,
        output: Stream = .null,
        errors: Stream = .null
    ) throws -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for (number, stream) in [(Int32(0), input), (1, output), (2, errors)] {
            switch stream {
            case .null: posix_spawn_file_actions_addopen(&actions, number, "/dev/null", O_RDWR, 0)
            case .descriptor(let descriptor): posix_spawn_file_actions_adddup2(&actions, descriptor, number)
            case .file(let path):
                posix_spawn_file_actions_addopen(&actions, number, path, O_WRONLY | O_CREAT | O_APPEND, 0o600)
            }
        }
        posix_spawn_file_actions_addclosefrom_np(&actions, 3)
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        var arguments: [UnsafeMutablePointer<CChar>?] = words.map { strdup($0) } + [nil]
        defer { for argument in arguments { free(argument) } }
        var variables: [UnsafeMutablePointer<CChar>?] =
            (environment ?? [:]).map { strdup("\($0)=\($1)") } + [nil]
        defer { for variable in variables { free(variable) } }
        var process: pid_t = 0
        let code =
            environment == nil
            ? posix_spawnp(&process, words[0], &actions, &attributes, &arguments, environ)
            : posix_spawnp(&process, words[0], &actions, &attributes, &arguments, &variables)
        guard code == 0 else {
            throw Failure("can't start \(words[0]): \(String(cString: strerror(code)))")
        }
        return process
    }
}
