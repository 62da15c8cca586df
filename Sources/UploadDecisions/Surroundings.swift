import Conditions
import GatewayModel
import IngestAPI

/// What is known besides an answer, or its absence, that says whose fault it is.
public struct Surroundings: Equatable, Sendable {
    public var network: NetworkState
    /// Of the certificate that was refused, its own words; nil = the TLS library does not tell.
    public var certificate: CertificateDates?
    public var wall: APITime
    public var clock: HostTrust

    public init(
        network: NetworkState = NetworkState(), certificate: CertificateDates? = nil, wall: APITime,
        clock: HostTrust = .plausible
    ) {
        self.network = network
        self.certificate = certificate
        self.wall = wall
        self.clock = clock
    }
}

/// From when until when a certificate is valid, as it says of itself.
public struct CertificateDates: Equatable, Sendable {
    public var from: APITime
    public var to: APITime

    public init(from: APITime, to: APITime) {
        self.from = from
        self.to = to
    }
}

/// A certificate that is not valid at this host's time, and which of the two is wrong.
public struct CertificateTimeProblem: Equatable, Sendable {
    public enum Cause: String, Sendable, CaseIterable {
        case hostClock
        case server
        /// Nobody vouches for the clock, and the certificate would have ended by it.
        case unknown
    }

    public var cause: Cause
    public var certificate: CertificateDates?
    public var wall: APITime

    public init(cause: Cause, certificate: CertificateDates?, wall: APITime) {
        self.cause = cause
        self.certificate = certificate
        self.wall = wall
    }

    init(_ surroundings: Surroundings) {
        wall = surroundings.wall
        certificate = surroundings.certificate
        switch surroundings.clock {
        case .implausible: cause = .hostClock
        case .synchronised: cause = .server
        // A certificate is rarely put to use before its time; one that was not renewed is a usual thing.
        case .plausible:
            if let dates = surroundings.certificate, surroundings.wall < dates.from {
                cause = .hostClock
            } else {
                cause = .unknown
            }
        }
    }

    var condition: Condition {
        switch cause {
        case .hostClock: .hostClockWrong
        case .server: .certificateTimeServer
        case .unknown: .certificateTimeUnknown
        }
    }

    /// How the certificate's dates stand to the clock.
    var relation: String {
        let shown = "this machine's clock says \(wall.day)"
        return if let certificate, wall < certificate.from {
            "The server's certificate begins on \(certificate.from.day), and \(shown)"
        } else if let certificate, wall > certificate.to {
            "The server's certificate ended on \(certificate.to.day), and \(shown)"
        } else {
            "The server's certificate is not valid at this machine's time, and \(shown)"
        }
    }
}

extension UploadProblem {
    /// The same trouble by its cause, where what is known besides tells it.
    public func seen(in surroundings: Surroundings) -> UploadProblem {
        switch self {
        case .noAnswer(.certificateTime):
            surroundings.network.wantsLogIn
                ? .captivePortal : .certificateTime(CertificateTimeProblem(surroundings))
        case .notThisAPI,
            .noAnswer(.cannotResolve), .noAnswer(.cannotConnect), .noAnswer(.timedOut),
            .noAnswer(.connectionLost), .noAnswer(.tls), .noAnswer(.notHTTP), .noAnswer(.answerTooLarge):
            surroundings.network.wantsLogIn ? .captivePortal : self
        default: self
        }
    }
}
