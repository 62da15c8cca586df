import Testing

@testable import BlueZModel

struct KnownError: Sendable {
    var name: String
    var text: String
    var kind: BlueZFailureKind

    init(_ name: String, _ text: String, _ kind: BlueZFailureKind) {
        self.name = name
        self.text = text
        self.kind = kind
    }
}

private let failed = "org.bluez.Error.Failed"
private let att = "Operation failed with ATT error: "

/// As seen on the bus of BlueZ 5.66, and read in the sources of later ones.
private let knownErrors: [KnownError] = [
    .init(failed, "le-connection-abort-by-local", .transient),
    .init(failed, "br-connection-canceled", .transient),
    .init(failed, "le-connection-concurrent-connection-limit", .tooManyLinks),
    .init(failed, "le-connection-key-missing", .keyMissing),
    .init(failed, "br-connection-key-missing", .keyMissing),
    .init(failed, "le-connection-adapter-not-powered", .notReady),
    .init(failed, "le-connection-gatt-browsing", .transient),
    .init(failed, "Software caused connection abort", .transient),
    .init(failed, "Operation already in progress", .inProgress),
    .init("org.bluez.Error.InProgress", "In Progress", .inProgress),
    .init("org.bluez.Error.InProgress", "Operation already in progress", .inProgress),
    .init(failed, "Input/output error", .adapterFault),
    .init("org.bluez.Error.NotReady", "Resource Not Ready", .notReady),
    .init("org.bluez.Error.Blocked", "Blocked through rfkill", .blocked),
    .init(failed, "Powering down", .notReady),
    .init(failed, "No discovery started", .alreadyDone),
    .init(failed, "Not connected", .notConnected),
    .init("org.bluez.Error.NotConnected", "Not Connected", .notConnected),
    .init("org.bluez.Error.DoesNotExist", "Does Not Exist", .gone),
    .init("org.bluez.Error.InvalidArguments", "Invalid arguments in method call", .invalidCall),
    .init("org.bluez.Error.InvalidArguments", "Invalid Length", .invalidCall),
    .init("org.bluez.Error.InvalidArguments", "Invalid offset", .invalidCall),
    .init("org.bluez.Error.NotPermitted", "Read not permitted", .notPermitted),
    .init("org.bluez.Error.NotPermitted", "Write not permitted", .notPermitted),
    .init("org.bluez.Error.NotPermitted", "Not paired", .notPaired),
    .init("org.bluez.Error.NotPermitted", "Notify acquired", .heldByAnother),
    .init("org.bluez.Error.NotPermitted", "Write acquired", .heldByAnother),
    .init("org.bluez.Error.NotAuthorized", "Operation Not Authorized", .notPermitted),
    .init("org.bluez.Error.NotSupported", "Operation is not supported", .unsupported),
    .init("org.bluez.Error.AlreadyExists", "Already Paired", .alreadyDone),
    .init("org.bluez.Error.AuthenticationFailed", "Authentication Failed", .authentication),
    .init("org.bluez.Error.AuthenticationTimeout", "Authentication Timeout", .authentication),
    .init("org.bluez.Error.AuthenticationRejected", "Authentication Rejected", .authentication),
    .init("org.bluez.Error.AuthenticationCanceled", "Authentication Canceled", .authentication),
    .init("org.bluez.Error.ConnectionAttemptFailed", "Page Timeout", .transient),
    .init("org.bluez.Failed", "Connect failed", .transient),
    .init(failed, "Failed to initiate write", .invalidCall),
    .init(failed, "Bad address", .invalidCall),
    .init(failed, att + "0x0e", .notConnected),
    .init(failed, att + "0x80", .applicationError(0x80)),
    .init(failed, att + "0x81", .applicationError(0x81)),
    .init(failed, att + "0x83", .applicationError(0x83)),
    .init(failed, att + "0x9f", .applicationError(0x9f)),
    .init(failed, att + "0xfd", .attributeError(0xfd)),
    .init(failed, att + "0x11", .attributeError(0x11)),
    .init(
        "org.freedesktop.DBus.Error.UnknownObject",
        "Method \"Connect\" with signature \"\" on interface \"org.bluez.Device1\" doesn't exist\n", .gone),
    .init("org.freedesktop.DBus.Error.InvalidArgs", "No such property 'MTU'", .gone),
    .init("org.freedesktop.DBus.Error.ServiceUnknown", "The name is not activatable", .serviceGone),
    .init("org.freedesktop.DBus.Error.NoReply", "Message recipient disconnected", .serviceGone),
    .init("org.freedesktop.DBus.Error.AccessDenied", "Rejected send message", .accessDenied),
    .init("org.bandferry.Error.Deadline", "no reply within the deadline", .deadline),
    .init("org.bandferry.Error.Disconnected", "", .busGone),
    .init("org.bluez.Error.Newer", "whatever", .unknown),
    .init(failed, "whatever", .unknown),
]

@Suite struct BlueZFailureTests {
    @Test(arguments: knownErrors) func eachNameAndTextHasItsKind(_ error: KnownError) {
        let failure = BlueZFailure(name: error.name, text: error.text, during: .connect)
        #expect(failure.kind == error.kind)
    }

    @Test(arguments: [
        att, att + "0x", att + "0xg1", att + "0x123", att + "0x80 ", "x" + att + "0x80", att + "80",
    ])
    func onlyTheExactTextHoldsAnAttributeError(_ text: String) {
        #expect(BlueZErrorTable.attributeError(in: text) == nil)
    }

    @Test func everyConnectionReasonIsKnownOnBothBearers() {
        for (reason, kind) in BlueZErrorTable.connectionReasons {
            for bearer in ["le", "br"] {
                #expect(BlueZErrorTable.kind(name: failed, text: "\(bearer)-connection-\(reason)") == kind)
            }
        }
    }

    /// A row behind one that matches all it could match would never be used.
    @Test func noRowHidesAnother() {
        var seen: [String: [BlueZErrorTable.Text]] = [:]
        for row in BlueZErrorTable.rows {
            if case .exactly(let text) = row.text {
                #expect(!(seen[row.name] ?? []).contains { $0.matches(text) }, "\(row.name) \(text)")
            } else if case .any = row.text {
                #expect(
                    !(seen[row.name] ?? []).contains { if case .any = $0 { true } else { false } },
                    "\(row.name)")
            }
            seen[row.name, default: []].append(row.text)
        }
    }

    @Test func everySentenceSaysWhatAndWhatToDo() {
        for error in knownErrors {
            for operation in BlueZOperation.allCases {
                let failure = BlueZFailure(name: error.name, text: error.text, during: operation)
                #expect(failure.sentence.hasPrefix("Could not \(operation.rawValue): "))
                #expect(failure.sentence.hasSuffix(".") && !failure.sentence.contains("\n"))
                #expect(failure.remedy.hasSuffix("."))
                #expect(
                    !failure.code.isEmpty
                        && failure.code.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" })
            }
        }
    }

    @Test(arguments: [
        (BlueZFailureKind.transient, BlueZRetry.backOff), (.notConnected, .reconnect), (.gone, .rediscover),
        (.notReady, .whenAdapterIsReady), (.blocked, .afterHelp), (.serviceGone, .whenServiceIsBack),
        (.busGone, .whenBusIsBack), (.alreadyDone, .goOn), (.keyMissing, .afterHelp), (.deadline, .reconnect),
        (.heldByAnother, .backOff), (.applicationError(0x80), .backOff),
    ])
    func theRetryRuleFollowsFromTheKind(_ kind: BlueZFailureKind, _ retry: BlueZRetry) {
        #expect(BlueZFailure(kind: kind, during: .connect).retry == retry)
    }
}
