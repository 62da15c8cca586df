/// The Clock characteristic: a band's own time. 16 bytes. Band History Profile 1, "Clock".
public struct BandClock: Equatable, Sendable {
    /// Milliseconds since 1970-01-01 by the band's own clock, which may be years off.
    public var timeMilliseconds: Int64
    /// Rises by 1 whenever the band's clock is stepped or restarts.
    public var clockID: UInt16
    public var secondsSinceBoot: UInt32

    public init(timeMilliseconds: Int64, clockID: UInt16, secondsSinceBoot: UInt32) {
        self.timeMilliseconds = timeMilliseconds
        self.clockID = clockID
        self.secondsSinceBoot = secondsSinceBoot
    }

    /// False for a time so far off that it can't be a clock's: records have 32 bits for their seconds, so nothing
    /// that is timed by this clock lies further from 1970. Arithmetic with such a time could overflow.
    public var isPlausible: Bool {
        (-Self.furthestMilliseconds...Self.furthestMilliseconds).contains(timeMilliseconds)
    }

    private static let furthestMilliseconds = Int64(UInt32.max) * 1000 + 999

    public init(decoding bytes: [UInt8]) throws(DecodingFailure) {
        var reader = LittleEndianReader(bytes)
        timeMilliseconds = try reader.read(Int64.self)
        clockID = try reader.read(UInt16.self)
        _ = try reader.read(UInt16.self)
        secondsSinceBoot = try reader.read(UInt32.self)
        try reader.end()
    }

    public var encoded: [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(timeMilliseconds)
        bytes.appendLittleEndian(clockID)
        bytes.appendLittleEndian(UInt16(0))
        bytes.appendLittleEndian(secondsSinceBoot)
        return bytes
    }
}
