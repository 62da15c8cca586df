/// A page of a table's b-tree, read from its bytes alone: what is left of a table whose upper pages are damaged.
///
/// "Database File Format", sections 1.6 (B-tree Pages) and 2.1 (Record Format), sqlite.org/fileformat2.html. A page is
/// taken only as a whole: where one cell is not what it should be, none of its neighbours is believed.
public enum BTreePage: Equatable, Sendable {
    /// Children from left to right.
    case interior([UInt32])
    case leaf([BTreeRow])

    /// - Parameters:
    ///   - bytes: the whole page
    ///   - isFirst: page 1 begins with the 100 bytes of the file's header
    ///   - columns: what a row of the table has at most
    ///   - pageCount: of the file
    /// - Returns: nil for a page that is damaged, of another kind, or holds anything but integers and NULL.
    public init?(_ bytes: [UInt8], isFirst: Bool = false, columns: Int, pageCount: UInt32) {
        let reader = PageBytes(bytes)
        let start = isFirst ? 100 : 0
        guard let kind = reader.byte(start), let cellCount = reader.uint16(start + 3),
            let content = reader.uint16(start + 5), let fragments = reader.byte(start + 7)
        else { return nil }
        let isInterior = kind == 0x05
        guard isInterior || kind == 0x0d else { return nil }
        let pointers = start + (isInterior ? 12 : 8)
        // 0 stands for 65,536.
        let contentStart = content == 0 ? 65_536 : content
        guard contentStart <= bytes.count, pointers + 2 * cellCount <= contentStart else { return nil }
        var cells: [(offset: Int, end: Int)] = []
        var children: [UInt32] = []
        var rows: [BTreeRow] = []
        var last: Int64?
        for index in 0..<cellCount {
            guard let offset = reader.uint16(pointers + 2 * index), offset >= contentStart else { return nil }
            if isInterior {
                guard let child = reader.uint32(offset), (2...max(2, pageCount)).contains(child),
                    let key = reader.varint(offset + 4), last.map({ $0 < key.value }) ?? true
                else { return nil }
                children.append(child)
                last = key.value
                cells.append((offset, key.end))
            } else {
                guard let row = BTreeRow.read(reader, at: offset, columns: columns),
                    last.map({ $0 < row.row.rowID }) ?? true
                else { return nil }
                rows.append(row.row)
                last = row.row.rowID
                // SQLite gives a cell at least 4 bytes, so that it can become a free block.
                cells.append((offset, max(row.end, offset + 4)))
            }
        }
        guard Self.isAccounted(cells, reader, start: start, content: contentStart, fragments: fragments)
        else {
            return nil
        }
        guard isInterior else {
            self = .leaf(rows)
            return
        }
        guard let right = reader.uint32(start + 8), (2...max(2, pageCount)).contains(right) else {
            return nil
        }
        self = .interior(children + [right])
    }

    /// Cells and free blocks fill the content area without an overlap, but for the fragments that the header counts.
    private static func isAccounted(
        _ cells: [(offset: Int, end: Int)], _ reader: PageBytes, start: Int, content: Int, fragments: Int
    ) -> Bool {
        var parts = cells
        guard var free = reader.uint16(start + 1) else { return false }
        while free != 0 {
            guard free >= content, let next = reader.uint16(free), let size = reader.uint16(free + 2),
                size >= 4,
                next == 0 || next > free
            else { return false }
            parts.append((free, free + size))
            free = next
        }
        parts.sort { $0.offset < $1.offset }
        var end = content
        var between = 0
        for part in parts {
            guard part.offset >= end else { return false }
            between += part.offset - end
            end = part.end
        }
        guard end <= reader.usable else { return false }
        return between + reader.usable - end == fragments
    }
}

/// One row of a table whose columns are integers and NULLs.
public struct BTreeRow: Equatable, Sendable {
    public var rowID: Int64
    /// In the order of the columns; the one that is the row id itself is NULL. Columns that were added after the row was
    /// written last are missing at the end.
    public var values: [Int64?]

    /// With where the cell ends. A row that goes on in overflow pages is none of ours.
    fileprivate static func read(
        _ reader: PageBytes, at offset: Int, columns: Int
    ) -> (row: BTreeRow, end: Int)? {
        guard let size = reader.varint(offset), let id = reader.varint(size.end),
            (2...Int64(reader.usable)).contains(size.value)
        else { return nil }
        let start = id.end
        let end = start + Int(size.value)
        guard end <= reader.usable, let header = reader.varint(start), (1...size.value).contains(header.value)
        else { return nil }
        let bodyStart = start + Int(header.value)
        var position = header.end
        var body = bodyStart
        var values: [Int64?] = []
        while position < bodyStart {
            guard values.count < columns, let type = reader.varint(position) else { return nil }
            position = type.end
            switch type.value {
            case 0: values.append(nil)
            case 8: values.append(0)
            case 9: values.append(1)
            case 1...6:
                let length = [1, 2, 3, 4, 6, 8][Int(type.value) - 1]
                guard let value = reader.integer(body, length: length) else { return nil }
                values.append(value)
                body += length
            default: return nil
            }
        }
        guard position == bodyStart, body == end, !values.isEmpty else { return nil }
        return (BTreeRow(rowID: id.value, values: values), end)
    }

    public init(rowID: Int64, values: [Int64?]) {
        self.rowID = rowID
        self.values = values
    }
}

/// Bounds-checked, big-endian.
private struct PageBytes {
    private let bytes: [UInt8]
    /// Without the bytes that the file's header reserves at the end of each page: SQLite itself reserves none.
    var usable: Int { bytes.count }

    init(_ bytes: [UInt8]) { self.bytes = bytes }

    func byte(_ offset: Int) -> Int? { bytes.indices.contains(offset) ? Int(bytes[offset]) : nil }

    func uint16(_ offset: Int) -> Int? {
        guard offset >= 0, offset + 2 <= bytes.count else { return nil }
        return Int(bytes[offset]) << 8 | Int(bytes[offset + 1])
    }

    func uint32(_ offset: Int) -> UInt32? {
        integer(offset, length: 4).map { UInt32(truncatingIfNeeded: $0) }
    }

    /// With a sign.
    func integer(_ offset: Int, length: Int) -> Int64? {
        guard offset >= 0, offset + length <= bytes.count else { return nil }
        var value: Int64 = bytes[offset] & 0x80 == 0 ? 0 : -1
        for index in offset..<(offset + length) { value = value << 8 | Int64(bytes[index]) }
        return value
    }

    /// Seven bits a byte, eight in the ninth.
    func varint(_ offset: Int) -> (value: Int64, end: Int)? {
        var value: UInt64 = 0
        for index in 0..<9 {
            guard let byte = byte(offset + index) else { return nil }
            if index == 8 { return (Int64(bitPattern: value << 8 | UInt64(byte)), offset + 9) }
            value = value << 7 | UInt64(byte & 0x7f)
            if byte & 0x80 == 0 { return (Int64(bitPattern: value), offset + index + 1) }
        }
        return nil
    }
}
