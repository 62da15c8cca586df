/// What this is; all four programs are built and released together.
public enum Bandferry {
    public static let version = "0.1.0"
}
