import BandProfile

/// How one sync of one band, asked for by a person, ended.
public struct SyncReport: Equatable, Sendable {
    public var address: BluetoothAddress
    /// New records of this sync.
    public var stored: Int
    /// New gaps of this sync.
    public var gaps: Int
    /// Nil when everything that the band held is here.
    public var problem: Problem?

    public init(address: BluetoothAddress, stored: Int, gaps: Int = 0, problem: Problem? = nil) {
        self.address = address
        self.stored = stored
        self.gaps = gaps
        self.problem = problem
    }
}
