import CommandLineText
import GatewayConfiguration
import GatewayModel
import Glibc
import INIFile

/// The daemon's configuration, as far as a command needs it.
enum Settings {
    /// The default file need not exist: then the defaults hold. A warning is the daemon's to log, not ours.
    static func read(_ path: String?) throws -> Configuration {
        let file = path ?? Invocation.defaultConfiguration
        if path == nil, access(file, F_OK) != 0, errno != EACCES { return Configuration() }
        if access(file, R_OK) != 0, errno == EACCES {
            throw Failure(
                .notPermitted,
                "This user may not read \(file).\nWhat to do: use sudo, or name another file with --config FILE."
            )
        }
        let lines = try INIFile.read(path: file).map {
            ConfigurationLine(section: $0.section, key: $0.key, value: $0.value, number: $0.line)
        }
        do {
            return try Configuration.read(lines, file: file).configuration
        } catch {
            throw Failure(.failed, "The configuration is not valid:\n\(error)")
        }
    }
}

extension Timestamp {
    static var now: Timestamp {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Timestamp(milliseconds: Int64(time.tv_sec) * 1000 + Int64(time.tv_nsec) / 1_000_000)
    }
}
