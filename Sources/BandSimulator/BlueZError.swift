import DBus

/// BlueZ's errors with its own texts, to the letter.
enum BlueZError {
    static func failed(_ text: String) -> BusError { error("Failed", text) }

    static func att(_ code: UInt8) -> BusError {
        switch code {
        case 0x02: error("NotPermitted", "Read not permitted")
        case 0x03: error("NotPermitted", "Write not permitted")
        case 0x05, 0x0c, 0x0f: error("NotPermitted", "Not paired")
        case 0x06: notSupported
        case 0x07: error("InvalidArguments", "Invalid offset")
        case 0x08: error("NotAuthorized", "Operation Not Authorized")
        case 0x0d: error("InvalidArguments", "Invalid Length")
        default: failed("Operation failed with ATT error: 0x" + hexadecimal(code))
        }
    }

    static let notReady = error("NotReady", "Resource Not Ready")
    static let blocked = error("Blocked", "Blocked through rfkill")
    static let busy = error("Busy", "")
    static let inProgress = error("InProgress", "In Progress")
    static let alreadyInProgress = error("InProgress", "Operation already in progress")
    static let invalidArguments = error("InvalidArguments", "Invalid arguments in method call")
    static let doesNotExist = error("DoesNotExist", "Does Not Exist")
    static let alreadyExists = error("AlreadyExists", "Already Exists")
    static let notSupported = error("NotSupported", "Operation is not supported")
    static let notConnected = error("NotConnected", "Not Connected")
    static let gattNotConnected = failed("Not connected")
    static let notifyAcquired = error("NotPermitted", "Notify acquired")
    static let writeAcquired = error("NotPermitted", "Write acquired")
    static let authenticationFailed = error("AuthenticationFailed", "Authentication Failed")
    static let authenticationRejected = error("AuthenticationRejected", "Authentication Rejected")
    static let authenticationCanceled = error("AuthenticationCanceled", "Authentication Canceled")
    static let pageTimeout = error("ConnectionAttemptFailed", "Page Timeout")
    /// Every failed LE connect, whatever the cause.
    static let connectAborted = failed("le-connection-abort-by-local")
    static let keyMissing = failed("le-connection-key-missing")
    /// Yes, "br", on LE.
    static let connectCanceled = failed("br-connection-canceled")

    private static func error(_ name: String, _ text: String) -> BusError {
        BusError(name: "org.bluez.Error." + name, message: text)
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let text = String(byte, radix: 16)
        return text.utf8.count == 1 ? "0" + text : text
    }
}
