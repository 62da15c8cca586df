/// How long each call to BlueZ may take. Every call has a deadline: bluetoothd is known to hang.
public struct BlueZTimings: Sendable, Equatable {
    /// Device1.Connect: BlueZ itself gives up after about 40 s.
    public var connect: Duration = .seconds(60)
    /// From the connection to ServicesResolved: a silent band costs BlueZ's own 30 s.
    public var resolve: Duration = .seconds(45)
    /// How long GATT objects may come after ServicesResolved.
    public var lateObjects: Duration = .seconds(10)
    /// How often they are looked for meanwhile.
    public var lateObjectsPoll: Duration = .seconds(1)
    public var read: Duration = .seconds(10)
    public var write: Duration = .seconds(10)
    /// AcquireNotify and StartNotify. BlueZ 5.66 never answers when the band refuses.
    public var subscribe: Duration = .seconds(15)
    /// How long the socket of a killed gateway may hold the notifications of a link that is taken over.
    public var takeover: Duration = .seconds(3)
    public var ack: Duration = .seconds(5)
    /// BlueZ waits 2 s before it lets go of a link.
    public var disconnect: Duration = .seconds(10)
    /// GetManagedObjects and the small calls.
    public var other: Duration = .seconds(10)
    /// Set Powered, and until it is seen.
    public var power: Duration = .seconds(10)
    /// A question that costs bluetoothd nothing: longer, and it hangs.
    public var probe: Duration = .seconds(5)
    /// Everything that bluetoothd is told at a stop: a link takes it 2 s.
    public var stop: Duration = .seconds(5)
    /// From one try to have a silent bluetoothd list its objects to the next.
    public var silentRetry: Duration = .seconds(10)
    /// From a registration of the agent that failed to the next one; it doubles up to `agentRetryMost`.
    public var agentRetry: Duration = .seconds(2)
    public var agentRetryMost: Duration = .seconds(300)
    /// A band that is heard again and again is told of this often.
    public var seenInterval: Duration = .seconds(2)

    public init() {}
}
