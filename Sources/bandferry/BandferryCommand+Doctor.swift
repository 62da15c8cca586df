import BandProfile
import CommandLineText
import Conditions
import Doctor
import DoctorProbes
import GatewayConfiguration
import GatewayModel
import Glibc
import INIFile
import Store

/// `bandferry doctor`: the probes run beside one another, and the pure doctor says what they mean.
extension BandferryCommand {
    mutating func doctor() async throws -> ExitCode {
        let (configuration, facts) = DoctorConfiguration.read(invocation.configuration)
        let places = DoctorPlaces.ofThisHost
        let clock = ClockProbe(isTrusted: configuration.trustsHostClock, places: places)
        var probes: [any DoctorProbe] = [
            DaemonProbe(), BluetoothProbe(), RadioSwitchProbe(places: places),
            BluetoothdVersionProbe(places: places), MainConfigurationProbe(places: places),
            clock, DiskProbe(directory: configuration.stateDirectory),
        ]
        if let upload = configuration.upload {
            // One that the server knows of nothing does as well.
            let device = configuration.bands.first?.device ?? DeviceID(BluetoothAddress(bits: 0))
            probes.append(ServerProbe(upload: upload, device: device, trust: clock.look()))
        }
        var found = await Examination.run(probes, on: facts)
        await askAgain(into: &found)
        // Last of all: to read it, root becomes the service's user for good.
        readLocally(configuration, into: &found)
        let diagnosis = Doctor.diagnose(found, words: DoctorText.words)
        try show(DoctorText.json(diagnosis)) {
            DoctorText.rendered(diagnosis, now: .now, terminal: $0)
        }
        return DoctorText.exitCode(diagnosis)
    }

    /// The probes run beside one another: a sync may have begun or ended between the daemon's word and BlueZ's. Before
    /// another program is blamed, the daemon is asked once more.
    private func askAgain(into facts: inout DoctorFacts) async {
        let blames = [Condition.heldByAnotherProgramNow.code, Condition.slotsUsedUp.code]
        guard Doctor.diagnose(facts).findings.contains(where: { blames.contains($0.code) }) else { return }
        let again = await Examination.run(
            [DaemonProbe()], on: DoctorFacts(configuration: facts.configuration))
        facts.daemon = facts.daemon.asked(again: again.daemon)
    }

    /// What the daemon wrote down, where it can't be asked.
    private func readLocally(_ configuration: Configuration, into facts: inout DoctorFacts) {
        switch facts.daemon.state {
        case .running, .silent, .notPermitted: return
        case .stopped, .offTheBus, .unknown: break
        }
        do {
            let status = try LocalState(configuration).status()
            facts.daemon = DaemonFacts(status.running ? .offTheBus : .stopped, status: status)
        } catch let failure as Failure where failure.code == .notPermitted {
            facts.notPermitted[.daemon] = configuration.stateDirectory
        } catch let failure as Failure where failure.code == .notFound {
            facts.daemon.state = .stopped
        } catch {
            // The daemon says the same when it starts.
            facts.daemon.state = .stopped
            facts.daemon.status = DoctorConfiguration.status(error, configuration)
        }
    }
}

/// The configuration as the doctor sees it: what is wrong in it is a finding, not the end.
enum DoctorConfiguration {
    static func read(_ path: String?) -> (Configuration, DoctorFacts) {
        let file = path ?? Invocation.defaultConfiguration
        var configuration = Configuration()
        var facts = DoctorFacts(configuration: ConfigurationFacts(file: file))
        do {
            let lines = try INIFile.read(path: file).map {
                ConfigurationLine(section: $0.section, key: $0.key, value: $0.value, number: $0.line)
            }
            let read = try Configuration.read(lines, file: file)
            configuration = read.configuration
            facts.configuration.warnings = read.warnings.map(\.description)
            facts.done = [.configuration]
        } catch let errors as ConfigurationErrors {
            facts.configuration.errors = errors.notes.map(\.description)
            facts.done = [.configuration]
        } catch {
            if access(file, F_OK) == 0, access(file, R_OK) != 0 {
                facts.notPermitted[.configuration] = file
            } else {
                facts.configuration.errors = ["\(error)"]
            }
        }
        facts.configuration.adapters = configuration.adapters
        facts.configuration.maxLinks = configuration.maxLinks
        facts.configuration.freeSpaceFloor = configuration.storage.freeSpaceFloor
        return (configuration, facts)
    }

    /// A store that can't be read.
    static func status(_ error: any Error, _ configuration: Configuration) -> GatewayStatus? {
        guard let error = error as? StoreError else { return nil }
        var status = GatewayStatus(
            version: Bandferry.version, stateDirectory: configuration.stateDirectory, running: false)
        // Before its first start there is none.
        if error.kind != .missing { status.problems = [error.problem] }
        return status
    }
}
