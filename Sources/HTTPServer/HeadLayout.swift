/// Text of a request's head, where the library read it.
struct HeadText {
    /// Nil when there is none, as of a parameter without `=`.
    var start: UnsafePointer<CChar>?
    var count: Int

    var text: String {
        String(decoding: UnsafeRawBufferPointer(start: start, count: start == nil ? 0 : count), as: UTF8.self)
    }

    fileprivate var begin: Int { Int(bitPattern: start) }
    fileprivate var end: Int { begin + count }
}

/// A header or a parameter, where the library read it.
struct HeadField {
    var name: HeadText
    var value: HeadText

    var text: HTTPField { HTTPField(name.text, value.text) }
}

/// The parts of a request's first line. The target is without its query.
struct RequestLine {
    var method: HeadText
    var target: HeadText
    var version: HeadText

    init(
        method: UnsafePointer<CChar>?, target: UnsafePointer<CChar>?, version: UnsafePointer<CChar>?
    ) {
        self.method = Self.text(method)
        self.target = Self.text(target)
        self.version = Self.text(version)
    }

    private static func text(_ start: UnsafePointer<CChar>?) -> HeadText {
        HeadText(start: start, count: start.map { String(cString: $0).utf8.count } ?? 0)
    }
}

/// Where the parts of a head lie in memory.
///
/// libmicrohttpd before 1.0 takes a head apart where it lies. It ends a text at a NUL whatever follows, takes a
/// line feed alone for the end of a line, moves a folded line away, and tells nobody; but then the parts do not
/// lie end to end with a CRLF between two lines.
struct HeadLayout {
    var line: RequestLine
    var arguments: [HeadField]
    var headers: [HeadField]
    /// From the method to behind the blank line.
    var size: Int

    /// Nothing was in the head but its parts and what belongs between them.
    var isWhole: Bool {
        // One space, and a query of which a last `&` leaves no trace.
        guard line.target.begin == line.method.end + 1,
            [line.target.end + query, line.target.end + query + 1].contains(line.version.begin - 1)
        else { return false }
        var end = line.version.end
        for header in headers {
            guard header.name.begin == end + Self.lineEnd, header.value.begin > header.name.end else {
                return false
            }
            end = header.value.end
        }
        return line.method.begin + size == end + 2 * Self.lineEnd
    }

    private static let lineEnd = 2

    /// Bytes of the query with its question mark.
    private var query: Int {
        arguments.reduce(0) { $0 + 1 + $1.name.count + ($1.value.start == nil ? 0 : 1 + $1.value.count) }
    }
}
