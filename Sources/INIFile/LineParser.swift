/// Feeds inih one line at a time and collects what it finds, so that every entry knows its line.
///
/// After a `[section]` line it feeds `marker =` once, which brings the section's name, also of an empty one.
final class LineParser {
    private(set) var entries: [INIEntry] = []
    /// The first line that was not given to inih at all.
    private(set) var refused: (line: Int, message: String)?

    private var lines: ArraySlice<ArraySlice<UInt8>>
    private var line = 0
    private var markerIsNext = false
    /// The line of the file for each line that inih was given.
    private var given: [Int] = []

    private static let marker: [UInt8] = Array("\u{1}=\n".utf8)
    private static let longestSection = 48

    init(_ bytes: [UInt8]) {
        let start = bytes.starts(with: [0xef, 0xbb, 0xbf]) ? 3 : 0
        lines = bytes[start...].split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)[...]
    }

    func line(ofCall call: Int) -> Int? { given.indices.contains(call - 1) ? given[call - 1] : nil }

    func add(section: String, key: String, value: String) {
        if section.utf8.count > Self.longestSection { refuse("the section's name is too long") }
        if key == "\u{1}" {
            entries.append(INIEntry(section: trimmed(section), key: "", value: "", line: line))
        } else if key.isEmpty {
            refuse("a value without a key; write key = value")
        } else {
            entries.append(INIEntry(section: trimmed(section), key: key, value: value, line: line))
        }
    }

    /// Writes a C string that ends in a newline; false at the end.
    func nextLine(into buffer: UnsafeMutableBufferPointer<CChar>) -> Bool {
        guard buffer.count > Self.marker.count else { return false }
        if markerIsNext {
            markerIsNext = false
            write(Self.marker[...], into: buffer)
            return true
        }
        guard refused == nil, let next = lines.popFirst() else { return false }
        line += 1
        let text = next.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
        let isComment = text.first == UInt8(ascii: "#") || text.first == UInt8(ascii: ";")
        if isComment {
            write([UInt8(ascii: "\n")], into: buffer)
        } else if let fault = Self.fault(of: text, limit: buffer.count - 2) {
            refuse(fault)
            return false
        } else {
            markerIsNext = text.first == UInt8(ascii: "[")
            write(text + [UInt8(ascii: "\n")], into: buffer)
        }
        return true
    }

    private static func fault(of text: ArraySlice<UInt8>, limit: Int) -> String? {
        if text.count > limit {
            return "longer than \(limit) bytes; split it: adopt may be given several times"
        }
        if text.contains(where: { $0 < 0x20 && $0 != 0x09 && $0 != 0x0d }) {
            return "holds a control character; is it a text file?"
        }
        guard String(validating: text, as: UTF8.self) != nil else { return "is not valid UTF-8" }
        return nil
    }

    private func refuse(_ message: String) {
        if refused == nil { refused = (line, message) }
    }

    private func write(_ bytes: ArraySlice<UInt8>, into buffer: UnsafeMutableBufferPointer<CChar>) {
        given.append(line)
        for (index, byte) in bytes.enumerated() { buffer[index] = CChar(bitPattern: byte) }
        buffer[bytes.count] = 0
    }

    private func trimmed(_ text: String) -> String {
        let blank: (Character) -> Bool = { $0 == " " || $0 == "\t" }
        return String(text.drop(while: blank).reversed().drop(while: blank).reversed())
    }
}
