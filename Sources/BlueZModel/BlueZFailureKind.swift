/// What kind of failure one of BlueZ's many names and texts is.
public enum BlueZFailureKind: Hashable, Sendable {
    /// The radio: the band was out of reach, did not answer in time, or the link broke while it was being made.
    case transient
    /// There is no link to the band, or it just dropped.
    case notConnected
    /// The same thing is being done already, by us or by another program.
    case inProgress
    /// Another program holds the band's history notifications or its write channel.
    case heldByAnother
    /// The band forbids it.
    case notPermitted
    /// The band wants a bond that does not exist yet.
    case notPaired
    /// Pairing was tried and failed.
    case authentication
    /// The band and this host do not hold the same keys any more.
    case keyMissing
    /// BlueZ does not know the object: a device that it has forgotten, a characteristic that went.
    case gone
    /// The band is reachable, but has no Band History service.
    case noService
    /// The adapter is off, or there is none.
    case notReady
    /// rfkill blocks the adapter.
    case blocked
    /// The adapter does not do what the kernel asks of it.
    case adapterFault
    /// The adapter can't hold one more link.
    case tooManyLinks
    /// The band's own error, 0x80 to 0x9f: for the Control Point, Band History Profile 1, "Streams".
    case applicationError(UInt8)
    /// Any other error of the Attribute Protocol.
    case attributeError(UInt8)
    /// This BlueZ or this band can't do it.
    case unsupported
    /// BlueZ or the bus did not like our call: a defect here.
    case invalidCall
    /// Exists already, is connected already, is paired already: nothing is left to do.
    case alreadyDone
    /// BlueZ did not answer in time.
    case deadline
    /// bluetoothd is not running.
    case serviceGone
    /// The message bus is gone.
    case busGone
    /// The bus's policy does not let us.
    case accessDenied
    /// We gave up ourselves.
    case cancelled
    /// A name or text that this table does not know.
    case unknown
}

/// When trying again can help.
public enum BlueZRetry: Sendable, Equatable {
    /// After a jittered back-off that grows.
    case backOff
    /// Look the band up again (discovery), then connect.
    case rediscover
    /// Disconnect first: only a new link heals it.
    case reconnect
    /// When the adapter is there and powered.
    case whenAdapterIsReady
    /// When bluetoothd owns its name again.
    case whenServiceIsBack
    /// When the bus can be opened again.
    case whenBusIsBack
    /// At once, as if it had succeeded.
    case goOn
    /// Only after a person did something; a rare try is fine.
    case afterHelp
}
