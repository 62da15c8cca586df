/// The bytes that the fuzzer offers, read from the front; when they are used up, everything is 0.
struct FuzzInput {
    private let bytes: UnsafeRawBufferPointer
    private var offset = 0

    init(_ start: UnsafePointer<UInt8>?, _ count: Int) {
        bytes = UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count)
    }

    var isEmpty: Bool { offset >= bytes.count }

    mutating func byte() -> UInt8 {
        guard offset < bytes.count else { return 0 }
        defer { offset += 1 }
        return bytes[offset]
    }

    mutating func below(_ limit: Int) -> Int { Int(byte()) % limit }

    mutating func number() -> UInt32 {
        (0..<4).reduce(UInt32(0)) { sum, _ in sum << 8 | UInt32(byte()) }
    }

    mutating func take(_ count: Int) -> [UInt8] {
        let end = min(bytes.count, offset + max(0, count))
        defer { offset = end }
        return Array(bytes[offset..<end])
    }

    mutating func rest() -> [UInt8] { take(bytes.count) }
}

/// A broken promise is a crash, which is what the fuzzer looks for.
func require(_ isKept: @autoclosure () -> Bool, _ promise: StaticString) {
    guard isKept() else { fatalError("\(promise)") }
}
