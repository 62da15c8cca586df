/// The way to the server, and what it answers. Samples are kept whatever stands here.
extension Condition {
    static let uploadRows: [Condition] =
        [
            serverNameUnknown, serverNotReached, serverTimedOut, connectionBroke, certificateTime,
            certificateTimeServer, certificateTimeUnknown, hostClockWrong, tlsFailed, clientCertificateFailed,
            proxyUnreachable, proxyAuthenticationFailed, proxyRefused, notHTTP, answerTooLarge, notThisAPI,
            requestFailed,
            uploadStopped,
        ] + [
            serverError, rateLimited, captivePortal, answerInconsistent, nothingConfirmed,
            unsupportedEncoding,
            authenticationFailed, forbidden, leaseForbidden, serverRefuses, reportRefused, serverLacks,
            outboxFailed,
            uploadPaused,
        ]

    private static let checkNetwork =
        "Check the network and the url of [upload]. Samples are kept and sent later."
    private static let checkClock =
        "Check this machine's clock first (timedatectl); then the server's certificate. Samples are kept."
    private static let waitForServer =
        "Nothing to do here: samples are kept and sent later. If it lasts, tell who runs the server."
    private static let report = "Samples are kept. Report it to who runs the server."
    private static let renewToken =
        "Put a valid gateway token into the token_file of [upload]; it is read again when it changes."

    public static let serverNameUnknown = Condition(
        "network_timeout", .warning, "name", "The server's name could not be resolved.", fix: checkNetwork)
    public static let serverNotReached = Condition(
        "network_timeout", .warning, "connect", "The server could not be reached.", fix: checkNetwork)
    public static let serverTimedOut = Condition(
        "network_timeout", .warning, "time", "The server did not answer in time.", fix: checkNetwork)
    public static let connectionBroke = Condition(
        "network_timeout", .warning, "broke",
        "The connection to the server broke before the answer was whole.",
        fix: checkNetwork)
    public static let uploadStopped = Condition(
        "network_timeout", .warning, "stopped", "The upload was stopped.", fix: "Nothing.")
    public static let certificateTime = Condition(
        "certificate_time", .error, "The server's certificate is not valid at this machine's time.",
        fix: checkClock)
    public static let certificateTimeServer = Condition(
        "certificate_time", .error, "server",
        "{relation}, which is synchronised: the certificate is at fault.",
        fix: "Tell who runs the server to renew the certificate. Samples are kept.")
    public static let certificateTimeUnknown = Condition(
        "certificate_time", .error, "unknown",
        "{relation}, for which nobody vouches: one of the two is wrong.",
        fix: checkClock)
    public static let hostClockWrong = Condition(
        "host_clock_wrong", .error, "{relation}: the clock is wrong.",
        fix: "Set this machine's clock (timedatectl); the upload goes on by itself. Samples are kept.")
    public static let tlsFailed = Condition(
        "tls_failed", .error, "The server's certificate could not be verified.",
        fix:
            "Check the url and ca_file of [upload], and whether the network wants a log-in page to be passed first. "
            + "Verification is never turned off. Samples are kept.")
    public static let clientCertificateFailed = Condition(
        "client_certificate_failed", .error,
        "The gateway's own certificate can't be used, or the server does not take it.",
        fix:
            "Check client_certificate and client_key of [upload], and with who runs the server. Samples are kept."
    )
    public static let proxyUnreachable = Condition(
        "proxy_unreachable", .warning, "The proxy could not be reached.",
        fix: "Check the proxy of [upload], and the network. Samples are kept and sent later.")
    public static let proxyAuthenticationFailed = Condition(
        "proxy_authentication_failed", .error, "The proxy does not accept the gateway's name and password.",
        fix: "Check proxy_credentials_file of [upload]; it is read again when it changes. Samples are kept.")
    public static let proxyRefused = Condition(
        "proxy_refused", .error, "The proxy does not connect the gateway to the server.",
        fix: "Ask who runs the proxy of [upload] to let this host through to the server. Samples are kept.")
    public static let notHTTP = Condition(
        "not_this_api", .error, "http", "What answers at the server's address does not speak HTTP.",
        fix: "Check the url of [upload].")
    public static let answerTooLarge = Condition(
        "not_this_api", .error, "long", "The answer is longer than one of the ingest API's.",
        fix: "Check the url of [upload].")
    public static let notThisAPI = Condition(
        "not_this_api", .error,
        "What answers at the server's address is not the ingest API (status {status}).",
        fix: "Check the url of [upload], and whether the network wants a log-in page to be passed first.")
    public static let requestFailed = Condition(
        "request_failed", .error, "The request to the server could not be made.",
        fix: "Check the url of [upload] and the free memory.")

    public static let serverError = Condition(
        "server_error", .warning, "The server failed to answer the upload (status {status}).",
        fix: waitForServer)
    public static let rateLimited = Condition(
        "rate_limited", .notice, "The server asked to send less often.", fix: waitForServer)
    public static let captivePortal = Condition(
        "captive_portal", .error,
        "The network wants a log-in page to be passed before it lets the upload through.",
        fix:
            "Pass the log-in page from a device on this network, or use another one. Samples are kept and sent later."
    )
    public static let answerInconsistent = Condition(
        "answer_inconsistent", .error, "The server's answer does not fit the batch that it was sent.",
        fix: report)
    public static let nothingConfirmed = Condition(
        "nothing_confirmed", .error, "The server answers with success but confirms no sample.", fix: report)
    public static let unsupportedEncoding = Condition(
        "unsupported_encoding", .error, "The server refuses the batch in every encoding.", fix: report)
    public static let authenticationFailed = Condition(
        "authentication_failed", .error, "The server does not accept the token.", fix: renewToken)
    public static let forbidden = Condition(
        "forbidden", .error, "The server does not let this token upload.", fix: renewToken)
    public static let leaseForbidden = Condition(
        "lease_forbidden", .error,
        "The server does not let this token own bands: those that it was never said to own are only observed.",
        fix:
            "Put a gateway token that may own bands into the token_file of [upload]; it is read again when it changes. "
            + "Where this one may by now, wait an hour or restart bandferryd. If another gateway is meant to own them, write mode = observe here."
    )
    public static let serverRefuses = Condition(
        "server_refuses", .error, "The server refuses single samples one after the other ({code}).",
        fix: report)
    public static let reportRefused = Condition(
        "report_refused", .warning, "The server does not take a band's gaps or status ({code}).", fix: report)
    public static let serverLacks = Condition(
        "server_lacks_samples", .error,
        "The server has {count} samples of this band fewer than it has confirmed: it may have been put back to an older backup.",
        fix:
            "Run `bandferry reconcile`: it compares day by day, sends again what the server lacks, and lets the rest be. Not if they were "
            + "erased there on purpose, or if the token or the url of [upload] are another account's now: then this stays until they are "
            + "let go here, too (keep_days).")
    public static let outboxFailed = Condition(
        "outbox_failed", .error, "The upload could not use the database: {why}",
        fix: "See the store's own state; the upload goes on when the database can be used again.")
    public static let uploadPaused = Condition(
        "upload_paused", .notice, "The upload is paused{time}: samples are kept here.",
        fix: "bandferry upload resume")
}
