/// The version of all four programs; one number for one package.
public enum Bandferry {
    public static let version = "0.1.0"
}
