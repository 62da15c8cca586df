import GatewayModel

/// What keeps samples here, and what codes of a failed upload mean, for people.
enum UploadWords {
    static func reason(_ reason: KeptSamples.Reason) -> String {
        switch reason {
        case .refused: "refused"
        case .refusedReading: "second reading refused"
        case .consent: "no consent"
        case .hostClock: "clock"
        }
    }

    static func sentence(_ reason: KeptSamples.Reason) -> String {
        switch reason {
        case .refused, .refusedReading: "The server will not take some samples; they are kept here."
        case .consent: "The server has no consent for some samples yet; they are kept here."
        case .hostClock: "Some samples wait for this host's clock to be right, a day at most."
        }
    }

    static func remedy(_ reason: KeptSamples.Reason) -> String {
        switch reason {
        case .refused, .refusedReading:
            "Ask who runs the server what the code means. 'bandferry upload retry' tries them again."
        case .consent: "Give it at the server. They go again within an hour, or with 'bandferry upload now'."
        case .hostClock: "See 'bandferry status'; timedatectl shows the clock."
        }
    }

    static func rest(_ rest: MeteredRest) -> String {
        switch rest {
        case .hours(let until):
            let minute = until % 60
            return "waits for the end of metered_hours at \(until / 60):\(minute < 10 ? "0" : "")\(minute); "
                + "'bandferry upload now' does not"
        case .connection:
            return "waits for a connection that is not metered; 'bandferry upload now' does not"
        }
    }

    /// By ingest API 1's code; nil for one that this program does not know.
    static func advice(_ code: String) -> String? {
        switch code {
        case "network_timeout": "Check the network and the url of [upload]. Samples are kept and sent later."
        case "server_error", "rate_limited":
            "Nothing to do here: samples are kept and sent later. If it lasts, tell who runs the server."
        case "not_this_api":
            "Check the url of [upload], and whether the network wants a log-in page to be passed first."
        case "authentication_failed", "forbidden":
            "Put a valid gateway token into the token_file of [upload]; it is read again when it changes."
        case "token_unusable": "Check the token_file of [upload]: one line that only the service can read."
        case "outbox_failed": "See 'bandferry status' for the state of the database."
        case "malformed", "batch_too_large", "unsupported_encoding":
            "Samples are kept. Report it to who runs the server."
        default: nil
        }
    }
}
