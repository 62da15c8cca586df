/// A length of time as people write it: `90s`, `45m`, `2h`, `1h30m`, `3d`.
enum DurationArgument {
    private static let units: [Character: Int] = ["s": 1, "m": 60, "h": 3_600, "d": 86_400]

    /// Seconds, from 1 to a year; nil for anything else.
    static func seconds(_ text: String) -> Int? {
        var total = 0
        var digits = ""
        for character in text {
            if let unit = units[character] {
                guard digits.count <= 9, let number = Int(digits) else { return nil }
                total += number * unit
                digits = ""
            } else {
                guard ("0"..."9").contains(character) else { return nil }
                digits.append(character)
            }
        }
        return digits.isEmpty && (1...366 * 86_400).contains(total) ? total : nil
    }
}
