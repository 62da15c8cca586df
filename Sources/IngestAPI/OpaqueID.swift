/// An id that somebody else chose: of a person, or of a gateway.
///
/// Two are the same when their bytes are, as in every database. Swift's strings are equal when they read the same
/// ("é" as one scalar or as two), which would make one person of two.
public struct OpaqueID: Hashable, Comparable, Sendable, ExpressibleByStringLiteral {
    public let text: String

    public init(_ text: String) { self.text = text }
    public init(stringLiteral text: String) { self.text = text }

    public static func == (left: Self, right: Self) -> Bool {
        left.text.utf8.withContiguousStorageIfAvailable { left in
            right.text.utf8.withContiguousStorageIfAvailable { left.elementsEqual($0) } ?? false
        } ?? left.text.utf8.elementsEqual(right.text.utf8)
    }

    public func hash(into hasher: inout Hasher) {
        for byte in text.utf8 { hasher.combine(byte) }
        // No id has this byte, so ids that follow each other do not run together.
        hasher.combine(0xff as UInt8)
    }

    /// In the order of their bytes.
    public static func < (left: Self, right: Self) -> Bool {
        left.text.utf8.lexicographicallyPrecedes(right.text.utf8)
    }
}
