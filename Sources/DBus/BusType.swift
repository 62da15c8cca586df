/// Type codes of the D-Bus specification. libdbus defines them as casts, which Swift does not import.
enum BusType {
    static let invalid: Int32 = 0
    static let byte = code("y")
    static let bool = code("b")
    static let int16 = code("n")
    static let uint16 = code("q")
    static let int32 = code("i")
    static let uint32 = code("u")
    static let int64 = code("x")
    static let uint64 = code("t")
    static let double = code("d")
    static let string = code("s")
    static let objectPath = code("o")
    static let signature = code("g")
    static let fileDescriptor = code("h")
    static let array = code("a")
    static let variant = code("v")
    /// What libdbus's iterators call a structure and a dictionary entry.
    static let structure = code("r")
    static let entry = code("e")

    private static func code(_ letter: Unicode.Scalar) -> Int32 { Int32(letter.value) }
}

/// Message types of the D-Bus specification.
enum BusMessageType {
    static let call: Int32 = 1
    static let reply: Int32 = 2
    static let error: Int32 = 3
    static let signal: Int32 = 4
}
