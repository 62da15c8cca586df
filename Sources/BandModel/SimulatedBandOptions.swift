import BandProfile

/// What kind of band to simulate. Everything that follows is determined by these and by the calls made.
public struct SimulatedBandOptions: Codable, Equatable, Sendable {
    public var seed: UInt64 = 1
    /// Records already measured when the band is first seen.
    public var records = 1_000
    /// Most records that the ring holds; older ones are overwritten.
    public var capacity = 1_000_000
    /// Most History Data notifications outstanding without an ack; 0 = no limit.
    public var window: UInt16 = 64
    public var recordIntervalMilliseconds: Int64 = 1_000
    /// Band time minus true time.
    public var clockOffsetMilliseconds: Int64 = 0
    /// How much faster than true time the band's clock runs.
    public var driftPPM: Double = 0
    /// The wearer's UTC offset; nil = the band does not know.
    public var offsetQuarterHours: Int8? = 8
    /// How often the clock was stepped, to unrelated times, during the initial history.
    public var clockSteps = 0
    /// Values as a wearer might have them, by the time of the day; else they depend on seed and seq alone.
    public var isLifelike = false
    public var liveHeartRate = true
    public var firmwareUpdate = false
    public var faults = FaultScript.none

    public init() {}

    public init(seed: UInt64, records: Int, window: UInt16 = 64, faults: FaultScript = .none) {
        self.seed = seed
        self.records = records
        self.window = window
        self.faults = faults
    }
}
