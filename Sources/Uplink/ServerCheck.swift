import GatewayModel
import HTTPClient
import IngestAPI
import UploadDecisions

/// Asks the server for one band's state, as the upload does, and says what keeps the upload from going on. For `bandferry
/// doctor`, beside a daemon that goes on.
public struct ServerCheck: Sendable {
    private let settings: UploadSettings
    private let deadline: Duration

    public init(settings: UploadSettings, deadline: Duration) {
        self.settings = settings
        self.deadline = deadline
    }

    /// Blocks, at most for the deadline. Nil = the server answered and takes the token, or none is configured.
    public func run(device: DeviceID, trust: HostTrust) -> UploadProblem? {
        guard let url = settings.url else { return nil }
        switch TokenFile(path: settings.tokenFile).read() {
        case .failure(let fault): return .tokenFile(fault.fault)
        case .success(let read): return ask(url, device, read.token, trust)
        }
    }

    private func ask(_ url: String, _ device: DeviceID, _ token: String, _ trust: HostTrust) -> UploadProblem?
    {
        let clock = SystemUploadClock()
        let server = UploadServer(
            url: url, transport: ConfiguredTransport(settings.transport, abortFlag: AbortFlag()),
            deadlines: HTTPDeadlines(
                connect: min(deadline, settings.intervals.connectDeadline), total: deadline),
            date: ServerDate(url: url, clock: clock) { _, _, _ in })
        let outcome = server.deviceState(device, token: token)
        let wall = APITime(milliseconds: clock.wall.milliseconds)
        let (decision, _) = StatusTable.decideState(outcome, device: device.text, wallTime: wall)
        return Self.problem(decision)?.seen(
            in: Surroundings(certificate: server.notes.refused(at: wall), wall: wall, clock: trust))
    }

    static func problem(_ decision: UploadDecision) -> UploadProblem? {
        switch decision {
        case .taken, .unknownDevice, .settle, .stop: nil
        case .waitForCredentials(let problem), .backOff(let problem, _): problem
        case .pause: .rateLimited
        case .passOver(let refusal), .halve(let refusal), .quarantine(let refusal):
            .reportRefused(code: refusal.code)
        case .sendIdentity: .encodingRefused
        }
    }
}
