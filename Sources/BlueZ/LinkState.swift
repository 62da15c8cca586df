import BlueZModel
import DBus

/// What the client keeps of one live link. It goes with the link: nothing is cached across connections.
struct LinkState {
    /// How notifications come.
    enum Notifications {
        case none
        /// A socket, by its id at the drain, and what is taken off it.
        case acquired(UInt64, NotificationMailbox)
        /// Signals of the characteristic at the path.
        case signalled(String)
    }

    var link: BandLink
    var onLost: @Sendable (BlueZFailure) -> Void
    /// Services were found: from now on ServicesResolved=false means that the link drops.
    var isReady = false
    var notifications = Notifications.none
    /// From BlueZ 5.83 on, its word for why the link dropped.
    var reason: String?
}
