/// How much the store may take of the medium.
public struct StoreLimits: Equatable, Sendable {
    /// Free bytes of the file system below which nothing is committed; 0 = as long as it goes.
    public var freeSpaceFloor: Int64
    /// Confirmed samples older than this are let go; nil = none is.
    public var keptFor: Duration?

    public init(freeSpaceFloor: Int64 = 0, keptFor: Duration? = nil) {
        self.freeSpaceFloor = freeSpaceFloor
        self.keptFor = keptFor
    }
}
