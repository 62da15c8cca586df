/// `5.66`, as `bluetoothd --version` prints it.
public struct BlueZVersionNumber: Equatable, Comparable, Sendable, CustomStringConvertible {
    public var major: Int
    public var minor: Int

    public init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    /// Nil where it is none; what follows the two numbers does not matter.
    public init?(_ text: String) {
        let parts = text.drop { $0 == " " || $0 == "\n" }.prefix { $0.isNumber || $0 == "." }.split(
            separator: ".")
        guard parts.count >= 2, let major = Int(parts[0]), let minor = Int(parts[1]) else { return nil }
        self.init(major, minor)
    }

    public static func < (left: Self, right: Self) -> Bool {
        (left.major, left.minor) < (right.major, right.minor)
    }

    public var description: String { "\(major).\(minor)" }
}

/// What a bluetoothd can do from a version on, and how Bandferry does without.
struct BlueZFeature: Sendable {
    var since: BlueZVersionNumber
    var what: String

    /// Below it nothing was ever tried.
    static let required = BlueZVersionNumber(5, 66)

    /// Bandferry does without them.
    static let optional = [
        BlueZFeature(
            since: BlueZVersionNumber(5, 83), what: "it does not say why a link was lost (from 5.83 on)"),
        BlueZFeature(
            since: BlueZVersionNumber(5, 84),
            what: "it never answers when a band refuses a subscription (mended in 5.84)"),
        BlueZFeature(
            since: BlueZVersionNumber(5, 86),
            what: "it tries a lost bond again without end (limited from 5.86 on)"),
    ]
}
