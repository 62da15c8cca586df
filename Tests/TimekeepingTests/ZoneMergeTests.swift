import GatewayModel
import Testing
import Timekeeping

@Suite struct ZoneMergeTests {
    /// `a0 b5` = zone a from 0, zone b from 5.
    private func stays(_ text: String) -> [ZoneStay] {
        text.split(separator: " ").map { word in
            ZoneStay(
                zone: String(word.first ?? "?"), from: Timestamp(milliseconds: Int64(word.dropFirst()) ?? 0))
        }
    }

    static let rows: [(local: String, server: String, base: String, merged: String)] = [
        ("a0", "", "", "a0"), ("", "a0", "", "a0"), ("a0", "b5", "", "a0 b5"),
        // New at both sides under one beginning: the local one.
        ("a0", "b0", "", "a0"),
        // Nothing changed here: what is there.
        ("a0 b5", "a0 c5", "a0 b5", "a0 c5"), ("a0 b5", "a0", "a0 b5", "a0"),
        // Nothing changed there: what is here.
        ("a0 c5", "a0 b5", "a0 b5", "a0 c5"), ("a0", "a0 b5", "a0 b5", "a0"), ("", "a0", "a0", ""),
        // Removed here, changed there.
        ("a0", "a0 c5", "a0 b5", "a0 c5"),
        // Changed here, removed there.
        ("a0 c5", "a0", "a0 b5", "a0 c5"), ("a0 b3 c9", "a0 b5 d7", "a0 b5", "a0 b3 d7 c9"),
    ]

    @Test(arguments: rows.indices) func whatWasChangedIsTaken(_ index: Int) {
        let row = Self.rows[index]
        let merged = ZoneMerge.merged(
            local: stays(row.local), server: stays(row.server), base: stays(row.base))
        #expect(merged == stays(row.merged))
    }

    @Test func theFirstDifferenceIsFound() {
        #expect(ZoneMerge.firstDifference(stays("a0 b5"), stays("a0 b5")) == nil)
        #expect(ZoneMerge.firstDifference(stays("a0 b5 c9"), stays("a0 d5"))?.milliseconds == 5)
        #expect(ZoneMerge.firstDifference(stays(""), stays("a3"))?.milliseconds == 3)
    }
}
