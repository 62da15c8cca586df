/// How fast clocks run away.
public enum Drift {
    /// Parts per million that a clock on its own gains or loses at most. Watch crystals are within 20 at room
    /// temperature and 50 on a cold wrist; this leaves room.
    public static let ppm: Int64 = 100

    /// A reading of the same clock that lies further off shows that it does not keep time: stopped, or stepped.
    static let brokenPPM: Int64 = 500

    /// What a clock gains or loses at most in a time, ms, rounded up.
    static func limit(over milliseconds: Int64, ppm: Int64 = ppm) -> Int64 {
        // In whole seconds, so that nothing overflows for any two times there are.
        (abs(milliseconds) / 1000 + 1) * ppm / 1000 + 1
    }
}
