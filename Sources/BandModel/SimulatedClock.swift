import BandProfile

/// One run of a band's clock, between two steps. Band History Profile 1, "Clock".
struct SimulatedClock: Codable, Equatable, Sendable {
    var id: UInt16
    /// Band time minus true time at `reference`.
    var offsetMilliseconds: Int64
    var driftPPM: Double
    /// True time at which the offset holds exactly.
    var reference: Int64
    /// True time of the band's last boot.
    var bootedAt: Int64

    /// Band time at a true time; never before 1970 and never past what a record's u32 of seconds can say.
    func bandTime(at trueMilliseconds: Int64) -> Int64 {
        let drift = Int64(Double(trueMilliseconds - reference) * driftPPM / 1_000_000)
        let time = trueMilliseconds &+ offsetMilliseconds &+ drift
        return min(max(0, time), Int64(UInt32.max) * 1000 + 999)
    }
}
