/// How `bandferry` ends. `bandferry help` and docs/configuration.md list them.
public enum ExitCode: Int32, Sendable, CaseIterable {
    case success = 0
    case failed = 1
    case usage = 2
    case notRunning = 3
    case notPermitted = 4
    case notFound = 5
    case inConfiguration = 6
    case outOfRange = 7
    case taken = 8
    case warningsFound = 9
    case errorsFound = 10

    public var meaning: String {
        switch self {
        case .success: "done"
        case .failed: "not done; the message says why and what to do"
        case .usage: "the command line was not understood, or asks for what can't be"
        case .notRunning: "bandferryd is not running, or can't be reached"
        case .notPermitted: "this user may not do that"
        case .notFound: "no such band, device, person or entry is known, or nothing is stored here yet"
        case .inConfiguration: "the configuration file says otherwise, and it wins"
        case .outOfRange: "the band was not heard in time"
        case .taken: "somebody else has that name, that id, or that band at that time"
        case .warningsFound: "doctor: something is worse than it could be, or heals by itself"
        case .errorsFound: "doctor: something keeps data from coming in or going up"
        }
    }
}
