import BandProfile
import Testing

/// Band History Profile 1, "Clock, 16 bytes".
struct BandClockTests {
    /// 2026-10-27T05:31:00Z = 1793079060000 ms = 0x1A17BD72620, clock 3, 86,461 s since boot.
    static let vector = bytes("2026d77ba1010000 0300 0000 bd510100")
    static let clock = BandClock(timeMilliseconds: 1_793_079_060_000, clockID: 3, secondsSinceBoot: 86_461)

    @Test func itIsSixteenLittleEndianBytes() throws {
        #expect(Self.vector.count == 16)
        #expect(try BandClock(decoding: Self.vector) == Self.clock)
        #expect(Self.clock.encoded == Self.vector)
    }

    @Test func whatIsReservedIsIgnoredAndSentAsZero() throws {
        var vector = Self.vector
        vector[10] = 0xab
        vector[11] = 0xcd
        #expect(try BandClock(decoding: vector) == Self.clock)
        #expect(try BandClock(decoding: vector).encoded == Self.vector)
    }

    @Test(arguments: [Int64.min, -1, 0, Int64.max])
    func aClockThatIsYearsOffIsStillRead(time: Int64) throws {
        let clock = BandClock(timeMilliseconds: time, clockID: .max, secondsSinceBoot: .max)
        #expect(try BandClock(decoding: clock.encoded) == clock)
    }

    @Test(
        arguments: [
            (Int64.min, false), (-4_294_967_296_000, false), (-4_294_967_295_999, true), (0, true),
            (4_294_967_295_999, true), (4_294_967_296_000, false), (Int64.max, false),
        ] as [(Int64, Bool)])
    func onlyATimeThatRecordsCanHaveIsPlausible(time: Int64, isPlausible: Bool) {
        let clock = BandClock(timeMilliseconds: time, clockID: 1, secondsSinceBoot: 0)
        #expect(clock.isPlausible == isPlausible)
    }

    @Test(arguments: 0..<16)
    func everyStrictPrefixIsTruncated(length: Int) {
        #expect(failure { try BandClock(decoding: Array(Self.vector.prefix(length))) }?.isTruncated == true)
    }

    @Test func whatFollowsItIsRefused() {
        #expect(failure { try BandClock(decoding: Self.vector + [0]) } == .trailing(at: 16))
    }
}
