// The rows of the table. Names first, then texts from the special to the general.

extension BlueZErrorTable {
    /// `org.bluez.Error.Failed` says everything in its text.
    static let failedRows: [Row] = {
        let failed = bluez("Failed")
        var rows = [
            Row(failed, .exactly("Not connected"), .notConnected),
            Row(failed, .exactly("Not Connected"), .notConnected),
            // connect() while one is pending, until 5.80: strerror(EALREADY).
            Row(failed, .exactly("Operation already in progress"), .inProgress),
            Row(failed, .exactly("Input/output error"), .adapterFault),
            Row(failed, .exactly("No discovery started"), .alreadyDone),
            Row(failed, .exactly("Powering down"), .notReady),
            Row(failed, .exactly("Connect failed"), .transient),
            Row(failed, .exactly("Failed to initiate write"), .invalidCall),
            Row(failed, .exactly("Failed to initiate read"), .notConnected),
            Row(failed, .exactly("Bad address"), .invalidCall),
            Row(failed, .exactly("Already Paired"), .alreadyDone),
            // Before 5.62 the text of errno.
            Row(failed, .exactly("Software caused connection abort"), .transient),
            Row(failed, .exactly("Connection timed out"), .transient),
            Row(failed, .exactly("Connection refused"), .transient),
            Row(failed, .exactly("Connection reset by peer"), .transient),
            Row(failed, .exactly("Host is down"), .transient),
            Row(failed, .exactly("Operation canceled"), .cancelled),
            Row(failed, .exactly("Transport endpoint is not connected"), .notConnected),
            Row(failed, .exactly("Too many links"), .tooManyLinks),
            Row(failed, .exactly("Device or resource busy"), .adapterFault),
            Row(failed, .exactly("Function not implemented"), .unsupported),
            Row(failed, .exactly("Protocol not available"), .unsupported),
        ]
        // Since 5.62. BlueZ says "br-" on LE too when a connect is cancelled or the link drops before ATT is up.
        for bearer in ["le-connection-", "br-connection-"] {
            for (reason, kind) in connectionReasons {
                rows.append(Row(failed, .exactly(bearer + reason), kind))
            }
        }
        return rows
    }()

    /// `src/error.h`, both bearers.
    static let connectionReasons: [(String, BlueZFailureKind)] = [
        ("invalid-arguments", .invalidCall), ("adapter-not-powered", .notReady),
        ("not-supported", .unsupported), ("already-connected", .alreadyDone), ("bad-socket", .adapterFault),
        ("memory-allocation", .adapterFault), ("busy", .inProgress), ("refused", .transient),
        ("create-socket", .adapterFault), ("timeout", .transient),
        ("concurrent-connection-limit", .tooManyLinks), ("abort-by-remote", .transient),
        ("abort-by-local", .transient), ("link-layer-protocol-error", .transient),
        ("lmp-protocol-error", .transient), ("gatt-browsing", .transient), ("unknown", .transient),
        ("page-timeout", .transient), ("profile-unavailable", .unsupported), ("sdp-search", .transient),
        ("canceled", .transient), ("key-missing", .keyMissing),
    ]

    static let bluezRows: [Row] = [
        Row(bluez("NotReady"), .any, .notReady),
        Row(bluez("Blocked"), .any, .blocked),
        Row(bluez("Busy"), .any, .inProgress),
        Row(bluez("InProgress"), .any, .inProgress),
        Row(bluez("NotConnected"), .any, .notConnected),
        Row(bluez("NotPermitted"), .exactly("Not paired"), .notPaired),
        Row(bluez("NotPermitted"), .exactly("Notify acquired"), .heldByAnother),
        Row(bluez("NotPermitted"), .exactly("Write acquired"), .heldByAnother),
        Row(bluez("NotPermitted"), .any, .notPermitted),
        Row(bluez("NotAuthorized"), .any, .notPermitted),
        Row(bluez("NotSupported"), .any, .unsupported),
        Row(bluez("NotAvailable"), .any, .unsupported),
        Row(bluez("InvalidArguments"), .any, .invalidCall),
        Row(bluez("InvalidOffset"), .any, .invalidCall),
        Row(bluez("InvalidValueLength"), .any, .invalidCall),
        Row(bluez("ImproperlyConfigured"), .any, .invalidCall),
        Row(bluez("DoesNotExist"), .any, .gone),
        Row(bluez("NotFound"), .any, .gone),
        Row(bluez("AlreadyExists"), .any, .alreadyDone),
        Row(bluez("AlreadyConnected"), .any, .alreadyDone),
        Row(bluez("ConnectionAttemptFailed"), .any, .transient),
        Row(bluez("AuthenticationTimeout"), .any, .authentication),
        Row(bluez("AuthenticationRejected"), .any, .authentication),
        Row(bluez("AuthenticationCanceled"), .any, .authentication),
        Row(bluez("AuthenticationFailed"), .any, .authentication),
        Row(bluez("AgentNotAvailable"), .any, .authentication),
        Row(bluez("Rejected"), .any, .authentication),
        Row(bluez("Canceled"), .any, .cancelled),
        // Adapter1.ConnectDevice leaves "Error" out.
        Row("org.bluez.Failed", .any, .transient),
    ]

    static let busRows: [Row] = [
        Row(freedesktop("UnknownObject"), .any, .gone),
        // gdbus answers this when the object is there and the interface went.
        Row(freedesktop("UnknownMethod"), .any, .gone),
        Row(freedesktop("UnknownInterface"), .any, .gone),
        Row(freedesktop("InvalidArgs"), .prefix("No such property"), .gone),
        Row(freedesktop("InvalidArgs"), .prefix("No such interface"), .gone),
        Row(freedesktop("InvalidArgs"), .any, .invalidCall),
        Row(freedesktop("InvalidSignature"), .any, .invalidCall),
        Row(freedesktop("PropertyReadOnly"), .any, .invalidCall),
        Row(freedesktop("ServiceUnknown"), .any, .serviceGone),
        Row(freedesktop("NameHasNoOwner"), .any, .serviceGone),
        // The bus's own answer when a service goes with a call unanswered.
        Row(freedesktop("NoReply"), .any, .serviceGone),
        Row(freedesktop("Timeout"), .any, .deadline),
        Row(freedesktop("TimedOut"), .any, .deadline),
        Row(freedesktop("Disconnected"), .any, .busGone),
        Row(freedesktop("NoServer"), .any, .busGone),
        Row(freedesktop("FileNotFound"), .any, .busGone),
        Row(freedesktop("AccessDenied"), .any, .accessDenied),
        Row(freedesktop("AuthFailed"), .any, .accessDenied),
        Row(freedesktop("LimitsExceeded"), .any, .inProgress),
        Row("org.bandferry.Error.Disconnected", .any, .busGone),
        Row("org.bandferry.Error.Deadline", .any, .deadline),
        Row("org.bandferry.Error.Cancelled", .any, .cancelled),
        Row("org.bandferry.Error.InvalidMessage", .any, .invalidCall),
    ]
}
