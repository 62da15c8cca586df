/// What was being done when BlueZ failed; the verb of the sentence that people read.
public enum BlueZOperation: String, Sendable, CaseIterable {
    case start = "reach bluetoothd"
    case discover = "search for bands"
    case connect = "connect"
    case disconnect = "disconnect"
    case pair = "pair"
    case trust = "mark the band as trusted"
    case resolve = "find the band's services"
    case read = "read from the band"
    case write = "write to the band"
    case subscribe = "subscribe to the band's history"
    case remove = "remove the band from BlueZ"
    case probe = "ask bluetoothd"
    case reset = "switch the adapter off and on"
    case restart = "restart bluetooth.service"
    case registerAgent = "register the pairing agent"
}
