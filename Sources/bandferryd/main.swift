import CLinux
import Dispatch
import Gateway
import GatewayConfiguration
import GatewayModel
import Glibc
import INIFile
import ProcessSignals
import Systemd

// Exit statuses are those of sysexits(3), which systemd shows by name.
private let usageStatus: Int32 = 64
private let cannotStartStatus: Int32 = 75
private let configurationStatus: Int32 = 78

private let help = """
    usage: bandferryd --config FILE

    Syncs the history of fitness and health bands over BlueZ, stores it, and uploads it.
    Normally started by systemd; on a terminal it logs to stderr and stops on Ctrl-C.

      --config FILE  the configuration, for example /etc/bandferry/bandferry.conf
      --version      print the version
      --help         print this

    The bus is the system bus, or the one that DBUS_SYSTEM_BUS_ADDRESS names.
    """

/// A line of its own for each line of the message: an entry is always one.
private func fail(_ status: Int32, _ message: String) -> Never {
    for line in message.split(separator: "\n") {
        StandardErrorSink().write(LogEntry(level: .error, message: "bandferryd: \(line)"))
    }
    exit(status)
}

private func configurationPath() -> String {
    let arguments = CommandLine.arguments.dropFirst()
    if arguments.contains("--help") {
        print(help)
        exit(0)
    }
    if arguments.contains("--version") {
        print(Bandferry.version)
        exit(0)
    }
    guard arguments.count == 2, arguments.first == "--config", let path = arguments.last else {
        fail(usageStatus, "it takes --config FILE; see bandferryd --help")
    }
    return path
}

private func readConfiguration(_ path: String) -> (Configuration, [ConfigurationNote]) {
    do {
        let lines = try INIFile.read(path: path).map {
            ConfigurationLine(section: $0.section, key: $0.key, value: $0.value, number: $0.line)
        }
        return try Configuration.read(lines, file: path)
    } catch {
        fail(configurationStatus, "\(error)")
    }
}

// By default each thread has an arena of malloc's, whose free memory is of no use to the others.
_ = linux_limit_malloc_arenas(2)
// Before anything runs, so that an early one is not missed.
let (stops, stop) = AsyncStream.makeStream(of: Void.self, bufferingPolicy: .bufferingNewest(1))
let signals = SignalReceiver([SIGTERM, SIGINT]) { _ in
    stop.yield()
    // A stop that hangs must not keep the machine from shutting down; what is committed is safe.
    DispatchQueue.global().asyncAfter(deadline: .now() + 20) { _exit(cannotStartStatus) }
}
let path = configurationPath()
let (configuration, warnings) = readConfiguration(path)
let log = Log.standard(
    identifier: "bandferryd", level: LogLevel(name: configuration.logLevel.rawValue) ?? .info)
for warning in warnings { log.warning("configuration", [("note", .text(warning.description))]) }
umask(0o077)
signal(SIGPIPE, SIG_IGN)

let daemon: GatewayDaemon
do {
    daemon = try GatewayDaemon(
        settings: GatewaySettings(
            configuration: configuration, configurationFile: path, version: Bandferry.version, log: log))
} catch {
    fail(cannotStartStatus, "\(error)")
}

Task { for await _ in stops { await daemon.stop() } }
await daemon.run()
withExtendedLifetime(signals) { log.flush() }
