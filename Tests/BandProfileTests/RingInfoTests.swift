import BandProfile
import Testing

/// Band History Profile 1, "Info, 24 bytes".
struct RingInfoTests {
    /// Version 1, both flags, clock 0x0203, format 5, window 0x0040, ring b5e5d00d, 7...9, capacity 0x100000.
    static let vector = bytes("01 03 0302 0500 4000 0dd0e5b5 07000000 09000000 00001000")
    static let info = RingInfo(
        liveHeartRate: true, firmwareUpdate: true, clockID: 0x0203, formatCount: 5, window: 64,
        ring: RingID(rawValue: 0xb5e5_d00d), oldestSeq: 7, newestSeq: 9, capacity: 0x10_0000)

    @Test func itIsTwentyFourLittleEndianBytes() throws {
        #expect(Self.vector.count == RingInfo.size)
        #expect(try RingInfo(decoding: Self.vector) == Self.info)
        #expect(Self.info.encoded == Self.vector)
    }

    @Test(arguments: [
        (UInt8(0b00), false, false), (0b01, true, false), (0b10, false, true), (0b11, true, true),
        // Reserved bits are ignored.
        (0b1111_1100, false, false),
    ])
    func itsFlagsAreBits(flags: UInt8, liveHeartRate: Bool, firmwareUpdate: Bool) throws {
        var vector = Self.vector
        vector[1] = flags
        let info = try RingInfo(decoding: vector)
        #expect(info.liveHeartRate == liveHeartRate)
        #expect(info.firmwareUpdate == firmwareUpdate)
    }

    @Test(arguments: 0..<24)
    func everyStrictPrefixIsTruncated(length: Int) {
        #expect(failure { try RingInfo(decoding: Array(Self.vector.prefix(length))) }?.isTruncated == true)
    }

    @Test func whatFollowsItIsRefused() {
        #expect(failure { try RingInfo(decoding: Self.vector + [0]) } == .trailing(at: 24))
    }

    @Test(arguments: [UInt8(0), 2, 255])
    func anotherVersionIsRefused(version: UInt8) {
        var vector = Self.vector
        vector[0] = version
        #expect(failure { try RingInfo(decoding: vector) } == .invalid(field: "profile version", at: 0))
    }

    @Test func ringZeroAndSeqZeroDoNotExist() {
        var noRing = Self.vector
        noRing.replaceSubrange(8..<12, with: [0, 0, 0, 0])
        #expect(failure { try RingInfo(decoding: noRing) } == .invalid(field: "ring_id", at: 8))
        var noSeq = Self.vector
        noSeq.replaceSubrange(12..<16, with: [0, 0, 0, 0])
        #expect(failure { try RingInfo(decoding: noSeq) } == .invalid(field: "oldest_seq", at: 12))
    }

    /// oldest, newest, is it allowed, is it empty.
    @Test(arguments: [
        (UInt32(1), UInt32(0), true, true), (1, 1, true, false), (8, 7, true, true), (9, 7, false, false),
        (2, 0, false, false), (UInt32.max, UInt32.max - 1, true, true), (UInt32.max, UInt32.max, true, false),
        (UInt32.max, 0, false, false), (1, UInt32.max, true, false),
    ])
    func anEmptyRingHasItsOldestOneAboveItsNewest(
        oldest: UInt32, newest: UInt32, isAllowed: Bool, isEmpty: Bool
    ) throws {
        var info = Self.info
        info.oldestSeq = oldest
        info.newestSeq = newest
        guard isAllowed else {
            #expect(failure { try RingInfo(decoding: info.encoded) } == .invalid(field: "newest_seq", at: 16))
            return
        }
        #expect(try RingInfo(decoding: info.encoded) == info)
        #expect(info.isEmpty == isEmpty)
    }
}
