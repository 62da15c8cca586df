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

    /// By address, never as `hci0`: that name may change with the order of plugging.
    static func adapter(_ text: String) throws(Refusal) -> BluetoothAddress {
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
