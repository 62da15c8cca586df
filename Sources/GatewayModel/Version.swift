/// What this is; all four programs are built and released together.
public enum Bandferry {
    public static let version = "0.1.0"
    /// 2026-11-30T00:00:00Z: this program was not there before, so a clock that shows less is wrong. Moves with releases.
    public static let written = Timestamp(milliseconds: 1_795_996_800_000)
}
