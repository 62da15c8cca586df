import GatewayModel
import IngestAPI
import Testing
import UploadDecisions

@Suite struct SurroundingsTests {
    static let dates = CertificateDates(
        from: APITime(milliseconds: 1_767_225_600_000), to: APITime(milliseconds: 1_798_761_600_000))
    static let before = APITime(milliseconds: 0)
    static let after = APITime(milliseconds: 1_900_000_000_000)

    struct Row: Sendable {
        var wall: APITime
        var clock: HostTrust
        var certificate: CertificateDates?
        var cause: CertificateTimeProblem.Cause
        var code: String
        var says: String
    }

    static let rows = [
        Row(
            wall: before, clock: .implausible, certificate: dates, cause: .hostClock,
            code: "host_clock_wrong",
            says: "begins on 2026-01-01, and this machine's clock says 1970-01-01: the clock is wrong"),
        Row(
            wall: before, clock: .plausible, certificate: dates, cause: .hostClock, code: "host_clock_wrong",
            says: "the clock is wrong"),
        Row(
            wall: before, clock: .synchronised, certificate: dates, cause: .server, code: "certificate_time",
            says: "which is synchronised: the certificate is at fault"),
        Row(
            wall: after, clock: .implausible, certificate: dates, cause: .hostClock, code: "host_clock_wrong",
            says: "ended on 2027-01-01"),
        Row(
            wall: after, clock: .plausible, certificate: dates, cause: .unknown, code: "certificate_time",
            says: "one of the two is wrong"),
        Row(
            wall: after, clock: .synchronised, certificate: dates, cause: .server, code: "certificate_time",
            says: "the certificate is at fault"),
        // Another TLS library does not tell the dates.
        Row(
            wall: before, clock: .implausible, certificate: nil, cause: .hostClock, code: "host_clock_wrong",
            says: "not valid at this machine's time"),
        Row(
            wall: before, clock: .plausible, certificate: nil, cause: .unknown, code: "certificate_time",
            says: "one of the two is wrong"),
        Row(
            wall: before, clock: .synchronised, certificate: nil, cause: .server, code: "certificate_time",
            says: "the certificate is at fault"),
    ]

    @Test(arguments: rows.indices) func aCertificateIsTheClocksFaultOnlyWhenItIs(_ index: Int) {
        let row = Self.rows[index]
        let problem = UploadProblem.noAnswer(.certificateTime).seen(
            in: Surroundings(certificate: row.certificate, wall: row.wall, clock: row.clock))
        #expect(
            problem
                == .certificateTime(
                    CertificateTimeProblem(cause: row.cause, certificate: row.certificate, wall: row.wall)))
        #expect(problem.code == row.code)
        #expect(problem.apiCode == "network_timeout")
        #expect(problem.text.contains(row.says), "\(problem.text)")
        #expect(problem.remedy.contains("Samples are kept."))
        #expect(problem.remedy.contains("timedatectl") == (row.cause != .server))
    }

    static let throughAPortal: [UploadProblem] = [
        .notThisAPI(status: 200), .notThisAPI(status: 302), .noAnswer(.tls), .noAnswer(.certificateTime),
        .noAnswer(.cannotResolve), .noAnswer(.cannotConnect), .noAnswer(.timedOut),
        .noAnswer(.connectionLost),
        .noAnswer(.notHTTP),
    ]
    static let onItsOwn: [UploadProblem] = [
        .serverError(status: 500), .rateLimited, .authenticationFailed, .forbidden, .outbox("full"),
        .tokenFile(.malformed), .serverRefuses(code: "malformed"), .serverLacks(count: 3), .nothingConfirmed,
        .noAnswer(.proxyAuthentication), .noAnswer(.clientKeyUnusable),
    ]

    @Test func behindAPortalWhatItCausesIsNamedSo() {
        let portal = Surroundings(network: NetworkState(isUp: true, wantsLogIn: true), wall: Self.before)
        let none = Surroundings(network: NetworkState(isUp: true), wall: Self.before)
        for problem in Self.throughAPortal {
            #expect(problem.seen(in: portal) == .captivePortal)
            #expect(problem.seen(in: none) != .captivePortal)
        }
        for problem in Self.onItsOwn { #expect(problem.seen(in: portal) == problem) }
    }
}
