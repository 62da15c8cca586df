import BandProfile
import GatewayModel

/// What a pairing says and asks at a terminal.
public enum PairingText {
    /// A line of its own; nil where nothing needs to be said.
    public static func line(_ progress: PairingProgress, _ band: BluetoothAddress) -> String? {
        switch progress {
        case .searching: "Listening for \(band) …"
        case .connecting: "Connecting …"
        case .paired: "Paired."
        case .bondWorks: "The bond that there is works."
        case .notAsked: "The band asks for no pairing."
        case .notInRange:
            "\(band) was not heard: it is synced, and paired if that needs nobody, when it is there. "
                + "If it wants a passkey, run 'bandferry pair \(band)' then."
        }
    }

    /// Without a line break at the end where an answer is awaited. `seconds`: how long.
    public static func question(_ question: PairingQuestion, seconds: Int) -> String {
        switch question {
        case .enterPasskey: "The six digits that the band shows (\(seconds) s): "
        case .comparePasskey(let passkey):
            "Does the band show \(digits(passkey))? [y/N] (\(seconds) s): "
        case .showPasskey(let passkey, let entered):
            entered == 0
                ? "Enter \(digits(passkey)) at the band.\n"
                : "Entered so far: \(max(0, min(entered, 6))) of 6.\n"
        }
    }

    /// What is said of something typed that answers nothing, before the question comes again.
    public static func notAnAnswer(_ question: PairingQuestion) -> String {
        switch question {
        case .enterPasskey: "That is no passkey.\n"
        case .comparePasskey: "Type y or n.\n"
        case .showPasskey: ""
        }
    }

    /// What somebody typed; nil = it answers nothing, ask again.
    public static func answer(_ line: String, to question: PairingQuestion) -> PairingAnswer? {
        let text = line.filter { !$0.isWhitespace && $0 != "-" }.lowercased()
        switch question {
        case .showPasskey: return nil
        case .enterPasskey:
            guard text.utf8.count == 6, text.utf8.allSatisfy({ (48...57).contains($0) }),
                let passkey = UInt32(text)
            else { return nil }
            return .reply(.passkey(passkey))
        case .comparePasskey:
            if ["y", "yes"].contains(text) { return .reply(.same) }
            return ["", "n", "no"].contains(text) ? .no : nil
        }
    }

    public enum PairingAnswer: Equatable, Sendable {
        case reply(PairingReply)
        case no
    }

    /// Always six, in two groups of three as bands show them.
    static func digits(_ passkey: UInt32) -> String {
        let text = String(min(passkey, 999_999))
        let six = String(repeating: "0", count: 6 - text.utf8.count) + text
        return "\(six.prefix(3)) \(six.suffix(3))"
    }
}
