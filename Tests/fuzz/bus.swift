import DBus

/// Messages from a bus: as they come, or a body under a header that is sound, so that the decoder is reached.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBus(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let bytes: [UInt8]
    if input.below(2) == 0 {
        bytes = input.rest()
    } else {
        let signature = input.take(input.below(64)).map { Array("ybnqiuxtdsogav(){}h".utf8)[Int($0) % 19] }
        bytes = signal(signature: signature, body: input.rest())
    }
    guard let message = try? BusMessageParser.parse(bytes) else { return 0 }
    for argument in message.arguments { visit(argument) }
    return 0
}

/// Everything that is read of a value.
private func visit(_ value: BusValue) {
    _ = (value.unwrapped, value.text, value.flag, value.integer, value.bytes, value.strings, value.properties)
    for element in value.elements ?? [] { visit(element) }
    for entry in value.entries ?? [] {
        visit(entry.key)
        visit(entry.value)
    }
}

/// A little-endian signal from `/a`, `a.b.c`. D-Bus specification, "Message Format".
private func signal(signature: [UInt8], body: [UInt8]) -> [UInt8] {
    func word(_ value: Int) -> [UInt8] { (0..<4).map { UInt8(truncatingIfNeeded: value >> (8 * $0)) } }
    func padded(_ bytes: [UInt8], to size: Int) -> [UInt8] {
        bytes + [UInt8](repeating: 0, count: (size - bytes.count % size) % size)
    }
    func field(_ code: UInt8, _ type: Character, _ text: String) -> [UInt8] {
        [code, 1, UInt8(type.asciiValue ?? 0), 0] + word(text.utf8.count) + Array(text.utf8) + [0]
    }
    var fields = padded(field(1, "o", "/a"), to: 8)
    fields += padded(field(2, "s", "a.b"), to: 8)
    fields += padded(field(3, "s", "C"), to: 8)
    fields += [8, 1, UInt8(ascii: "g"), 0, UInt8(signature.count)] + signature + [0]
    let header = [UInt8(ascii: "l"), 4, 0, 1] + word(body.count) + word(1) + word(fields.count) + fields
    return padded(header, to: 8) + body
}
