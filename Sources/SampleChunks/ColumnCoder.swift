/// One field of many samples as bytes: the differences of neighbours, as runs of equal ones where that is shorter.
///
/// Differences wrap around, so that any two integers have one.
public enum ColumnCoder {
    private static let plain: UInt8 = 0
    private static let runs: UInt8 = 1

    public static func write(_ column: [Int64], to writer: inout ByteWriter) {
        if lengthOfRuns(column) < lengthOfPlain(column) {
            writer.byte(runs)
            forEachRun(column) { difference, count in
                writer.signed(difference)
                writer.varint(UInt64(count))
            }
        } else {
            writer.byte(plain)
            var last: Int64 = 0
            for value in column {
                writer.signed(value &- last)
                last = value
            }
        }
    }

    public static func read(count: Int, from reader: inout ByteReader) throws(DamagedChunk) -> [Int64] {
        var column: [Int64] = []
        column.reserveCapacity(count)
        var last: Int64 = 0
        switch try reader.byte() {
        case plain:
            for _ in 0..<count {
                last &+= try reader.signed()
                column.append(last)
            }
        case runs:
            while column.count < count {
                let difference = try reader.signed()
                let length = try reader.count(atMost: count - column.count)
                guard length > 0 else { throw DamagedChunk() }
                for _ in 0..<length {
                    last &+= difference
                    column.append(last)
                }
            }
        default: throw DamagedChunk()
        }
        return column
    }

    private static func lengthOfPlain(_ column: [Int64]) -> Int {
        var length = 0
        var last: Int64 = 0
        for value in column {
            length += ByteWriter.length(ByteWriter.zigzag(value &- last))
            last = value
        }
        return length
    }

    private static func lengthOfRuns(_ column: [Int64]) -> Int {
        var length = 0
        forEachRun(column) { difference, count in
            length += ByteWriter.length(ByteWriter.zigzag(difference)) + ByteWriter.length(UInt64(count))
        }
        return length
    }

    @inline(__always)
    private static func forEachRun(_ column: [Int64], _ body: (Int64, Int) -> Void) {
        var last: Int64 = 0
        var run: (difference: Int64, count: Int)?
        for value in column {
            let difference = value &- last
            last = value
            if let current = run, current.difference == difference {
                run = (difference, current.count + 1)
            } else {
                if let run { body(run.difference, run.count) }
                run = (difference, 1)
            }
        }
        if let run { body(run.difference, run.count) }
    }
}
