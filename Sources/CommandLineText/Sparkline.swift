/// A row of blocks, one a value, each as high as its value: `▁▂▃·▅▆▇█`.
struct Sparkline {
    private static let blocks: [Character] = ["▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"]
    /// Where there is nothing.
    static let gap: Character = "·"

    private let lowest: Int
    private let highest: Int

    /// `fromZero` = the lowest block is 0, for what adds up; else the lowest value.
    init(of values: [Int?], fromZero: Bool) {
        let known = values.compactMap { $0 }
        lowest = fromZero ? 0 : known.min() ?? 0
        highest = known.max() ?? 0
    }

    func text(_ values: [Int?]) -> String { String(values.map(block)) }

    private func block(_ value: Int?) -> Character {
        guard let value else { return Self.gap }
        let last = Self.blocks.count - 1
        // All the same, and not nothing: neither high nor low.
        guard highest > lowest else { return Self.blocks[value == 0 ? 0 : last / 2] }
        let (part, whole) = (min(max(value - lowest, 0), highest - lowest), highest - lowest)
        return Self.blocks[Int((Double(part) / Double(whole) * Double(last)).rounded())]
    }
}
