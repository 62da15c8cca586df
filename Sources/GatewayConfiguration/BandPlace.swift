/// Where the file names a band.
public enum BandPlace: Equatable, Sendable {
    /// A line of `adopt`, which names it alone or with others.
    case list(line: Int, isAlone: Bool)
    /// Its section, from the header to the last key.
    case section(ClosedRange<Int>)

    public var line: Int {
        switch self {
        case .list(let line, _): line
        case .section(let lines): lines.lowerBound
        }
    }

    /// What takes the band out of here, and nothing else.
    var removal: String {
        switch self {
        case .list(let line, isAlone: true): "remove line \(line), `adopt`"
        case .list(let line, isAlone: false): "take it out of `adopt` in line \(line)"
        case .section(let lines) where lines.count == 1: "remove its section, line \(lines.lowerBound)"
        case .section(let lines): "remove its section, lines \(lines.lowerBound) to \(lines.upperBound)"
        }
    }
}

extension ConfiguredBand {
    /// How to take the band out of the file. The last place comes first, so that the numbers of the others stay right.
    public var removal: String {
        places.reversed().map(\.removal).joined(separator: "; ")
    }
}
