/// How a band wants to be paired, by what BlueZ asks of the gateway's agent.
public enum SimulatedPairing: String, CaseIterable, Sendable {
    /// Band History asks for no bond.
    case none
    /// Nobody has to do anything: `RequestAuthorization` at most.
    case justWorks = "just-works"
    /// The band shows a passkey that has to be entered: `RequestPasskey`.
    case passkeyEntry = "passkey-entry"
    /// A passkey has to be shown, and is entered at the band: `DisplayPasskey`.
    case passkeyDisplay = "passkey-display"
    /// Both show the same six digits: `RequestConfirmation`.
    case numericComparison = "numeric-comparison"

    /// BlueZ 5.66, doc/agent-api.txt: what an agent said of itself when it registered. The empty string is KeyboardDisplay.
    func isPossible(with capability: String) -> Bool {
        switch self {
        case .none, .justWorks: true
        case .passkeyEntry: ["", "KeyboardDisplay", "KeyboardOnly"].contains(capability)
        case .passkeyDisplay: ["", "KeyboardDisplay", "DisplayOnly", "DisplayYesNo"].contains(capability)
        case .numericComparison: ["", "KeyboardDisplay", "DisplayYesNo"].contains(capability)
        }
    }
}
