import Testing

@testable import DBus

/// A marshalled signal, little-endian, whose body is given with its signature.
private func message(_ signature: String, _ body: [UInt8]) -> [UInt8] {
    func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    func padded(_ bytes: [UInt8]) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (8 - bytes.count % 8) % 8)
    }
    func text(_ code: UInt8, _ type: String, _ value: String) -> [UInt8] {
        var bytes: [UInt8] = [code, 1]
        bytes += Array(type.utf8)
        bytes.append(0)
        bytes += word(value.utf8.count)
        bytes += Array(value.utf8)
        bytes.append(0)
        return bytes
    }
    var fields = padded(text(1, "o", "/a"))
    fields = padded(fields + text(2, "s", "a.b"))
    fields = padded(fields + text(3, "s", "C"))
    fields += [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.utf8.count)]
    fields += Array(signature.utf8)
    fields.append(0)
    var header: [UInt8] = [UInt8(ascii: "l"), 4, 0, 1]
    header += word(body.count)
    header += word(1)
    header += word(fields.count)
    header += fields
    return padded(header) + body
}

@Suite struct BusMessageParserTests {
    @Test func aSignalIsRead() throws {
        let parsed = try BusMessageParser.parse(message("yay", [7, 0, 0, 0, 2, 0, 0, 0, 1, 2]))
        #expect(parsed.kind == .signal)
        #expect(parsed.path == "/a" && parsed.interface == "a.b" && parsed.member == "C")
        #expect(parsed.arguments == [.byte(7), .bytes([1, 2])])
    }

    @Test func everyStrictPrefixIsRefused() {
        let whole = message("yay", [7, 0, 0, 0, 2, 0, 0, 0, 1, 2])
        for length in 0..<whole.count {
            #expect(throws: BusError.self, "\(length)") {
                try BusMessageParser.parse(Array(whole[..<length]))
            }
        }
    }

    @Test(arguments: [
        ("s", [1, 0, 0, 0, 0xff, 0] as [UInt8]),  // no UTF-8
        ("o", [1, 0, 0, 0, UInt8(ascii: "x"), 0]),  // no path
        ("b", [2, 0, 0, 0]),  // neither true nor false
        ("v", [0, 0]),  // nothing inside
        ("v", [1, UInt8(ascii: "!"), 0, 0]),  // unknown type
        ("ay", [0xff, 0xff, 0xff, 0xff]),  // longer than the message
        ("h", [0, 0, 0, 0]),  // a descriptor that did not come along
        ("!", [0]),
    ])
    func whatIsNoValueIsRefused(_ signature: String, _ body: [UInt8]) {
        #expect(throws: BusError.self) { try BusMessageParser.parse(message(signature, body)) }
    }

    @Test func deepVariantsAreRefusedNotFollowed() {
        for depth in [1, 10, 47, 48, 63, 64, 65, 200, 5_000] {
            var body: [UInt8] = []
            for _ in 0..<depth { body += [1, UInt8(ascii: "v"), 0] }
            body += [1, UInt8(ascii: "y"), 0, 9]
            let bytes = message("v", body)
            if depth < 40 {
                #expect((try? BusMessageParser.parse(bytes)) != nil)
            } else if depth > 48 {
                #expect(throws: BusError.self, "\(depth)") { try BusMessageParser.parse(bytes) }
            }
        }
    }

    @Test func tooManyValuesAreRefused() {
        let count = MessageLimits.values
        let size = count * 4
        let length = (0..<4).map { UInt8(truncatingIfNeeded: size >> (8 * $0)) }
        let bytes = message("ab", length + [UInt8](repeating: 0, count: size))
        #expect(throws: BusError.self) { try BusMessageParser.parse(bytes) }
    }

    /// Parse it or throw `BusError`, nothing else.
    @Test(arguments: [UInt64(1), 2, 3, 4]) func changedBytesNeverCrash(_ seed: UInt64) {
        var random = Random(state: seed)
        let whole = message(
            "a{sv}(yay)v",
            [
                0, 0, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 2, 0, 0, 0, 1, 2, 1, UInt8(ascii: "s"), 0, 0, 0, 0, 1, 0,
                0, 0, 65, 0,
            ])
        for _ in 0..<20_000 {
            var bytes = whole
            for _ in 0...Int(random.next() % 4) {
                bytes[Int(random.next() % UInt64(bytes.count))] = UInt8(truncatingIfNeeded: random.next())
            }
            _ = try? BusMessageParser.parse(bytes)
        }
    }
}

/// Small seeded generator (splitmix64), so that a failure can be repeated.
struct Random: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var z = state
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
