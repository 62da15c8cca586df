import BandProfile

/// What a wearer's body might give at a moment, for people to look at: nights and days, and no two wearers alike. Tests take
/// the plain values instead, which do not depend on the time of the day.
struct LifelikeValues {
    /// Of the band: the wearer's habits follow from it.
    let seed: UInt64

    /// In the type's fixed unit. `localTime`: ms of the wearer's civil time. `random`: of this record.
    func value(_ type: SampleType, localTime: Int64, random: UInt64) -> Int16 {
        let day = 86_400_000 as Int64
        let minute = (localTime % day + day) % day / 60_000
        let bedtime = 21 * 60 + habit(1, of: 150)
        let rising = 6 * 60 + habit(2, of: 120)
        let isAsleep = minute >= bedtime || minute < rising
        let noise = Int16(random >> 32 & 0xf)
        switch type {
        case .heartRate:
            let resting = Int16(50 + habit(3, of: 16))
            // A few half hours of a day are spent walking or running.
            let effort = Int(Mixer.mix(seed, UInt64(bitPattern: localTime / 1_800_000), 4) & 0x3f)
            let extra = Int16(effort * effort * effort / 4_096)
            return isAsleep ? resting + noise / 3 : resting + 8 + noise / 2 + extra
        case .steps: return isAsleep ? 0 : noise * noise * Int16(4 + habit(5, of: 4)) / 10
        case .spo2: return (isAsleep ? 940 : 955) + noise * 2
        case .sleepStage:
            guard isAsleep else { return 4 }
            // Cycles of an hour and a half: light, deep, light, REM, and a moment awake.
            return [1, 2, 2, 1, 3, 3, 1, 2, 1][Int(localTime / 600_000 % 9 + 9) % 9] * (noise == 0 ? 0 : 1)
        }
    }

    private func habit(_ number: UInt64, of range: UInt64) -> Int64 {
        Int64(Mixer.mix(seed, number, 0x11fe) % range)
    }
}
