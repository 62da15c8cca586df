import BandProfile

/// Why a value can't be taken, and what to write; the reader adds file, line and key.
struct Refusal: Error {
    var message: String
    init(_ message: String) { self.message = message }
}

/// The kinds of value that more than one key has.
enum Value {
    static func path(_ text: String) throws(Refusal) -> String {
        guard text.hasPrefix("/") else {
            throw Refusal("\(quoted(text)) is no absolute path; write it from / on")
        }
        return text
    }

    static func number(_ text: String, in range: ClosedRange<Int>, unit: String) throws(Refusal) -> Int {
        let isDecimal = text.utf8.allSatisfy { (0x30...0x39).contains($0) }
        guard isDecimal, let number = Int(text), range.contains(number) else {
            let hint = text.contains("#") ? "; a comment needs a line of its own" : ""
            let limits = "from \(range.lowerBound) to \(range.upperBound)"
            throw Refusal("\(quoted(text)) is not \(limits); write \(unit)\(hint)")
        }
        return number
    }

    static func flag(_ text: String) throws(Refusal) -> Bool {
        switch text {
        case "yes": return true
        case "no": return false
        default: throw Refusal("\(quoted(text)) is neither \"yes\" nor \"no\"")
        }
    }

    /// One or more, with commas or blanks between.
    static func adapters(_ text: String) throws(Refusal) -> [BluetoothAddress] {
        let words = text.split(whereSeparator: { $0 == "," || $0 == " " || $0 == "\t" })
        guard !words.isEmpty else { return [try adapter(text)] }
        var adapters: [BluetoothAddress] = []
        for word in words {
            let address = try adapter(String(word))
            if !adapters.contains(address) { adapters.append(address) }
        }
        return adapters
    }

    /// By address, never as `hci0`: that name may change with the order of plugging.
    private static func adapter(_ text: String) throws(Refusal) -> BluetoothAddress {
        if let address = BluetoothAddress(text) { return address }
        throw Refusal(
            "\(quoted(text)) is no adapter's address; write it as `bluetoothctl list` shows it, such as "
                + "00:1A:7D:DA:71:13")
    }

    static func label(_ text: String) throws(Refusal) -> String {
        guard !text.isEmpty, text.count <= 64 else {
            throw Refusal("has \(text.count) characters; write 1 to 64")
        }
        return text
    }

    /// As it stands in an error, not too long.
    static func quoted(_ text: some StringProtocol) -> String {
        text.isEmpty ? "an empty value" : text.count > 80 ? "\"\(text.prefix(77))...\"" : "\"\(text)\""
    }
}
