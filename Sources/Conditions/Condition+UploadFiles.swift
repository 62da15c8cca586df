/// The files with secrets that the upload reads.
extension Condition {
    static let uploadFileRows: [Condition] = [
        tokenUnreadable, tokenReadableByOthers, tokenMalformed, clientKeyUnusable, proxyCredentialsUnusable,
    ]

    public static let tokenUnreadable = Condition(
        "token_unreadable", .error, "The token file could not be read: {why}.",
        fix: "Check token_file of [upload] and that the service may read it.")
    public static let tokenReadableByOthers = Condition(
        "token_readable_by_others", .error, "The token file can be read by others, so it is not used.",
        fix: "Run chmod 600 on the token file; it is read again when it changes.")
    public static let tokenMalformed = Condition(
        "token_malformed", .error, "The token file does not hold one line of printable characters.",
        fix: "Write the token as one line into the token file.")
    public static let clientKeyUnusable = Condition(
        "client_key_unusable", .error,
        "The gateway's own key could not be read, or others can read it; it is not used.",
        fix:
            "Check client_key of [upload] and run chmod 600 on it, owned by the service's user; it is looked at again."
    )
    public static let proxyCredentialsUnusable = Condition(
        "proxy_credentials_unusable", .error,
        "The file with the proxy's name and password could not be read, can be read by others, or does not hold one line "
            + "user:password; it is not used.",
        fix:
            "Check proxy_credentials_file of [upload] and run chmod 600 on it, owned by the service's user; it is looked at "
            + "again.")
}
