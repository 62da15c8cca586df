/// A stateless random function: the same inputs give the same number on every machine and after every restart.
///
/// SplitMix64's finaliser. Nothing that it decides needs to be stored, so a band's whole history is a few numbers.
enum Mixer {
    static func mix(_ value: UInt64) -> UInt64 {
        var mixed = value &+ 0x9e37_79b9_7f4a_7c15
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }

    static func mix(_ first: UInt64, _ second: UInt64, _ third: UInt64 = 0) -> UInt64 {
        mix(mix(mix(first) ^ second) ^ third)
    }

    /// 0 up to, but not including, 1.
    static func fraction(_ value: UInt64) -> Double {
        Double(value >> 11) / Double(UInt64(1) << 53)
    }
}
