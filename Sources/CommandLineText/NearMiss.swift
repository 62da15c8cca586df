/// The word that somebody may have meant.
enum NearMiss {
    /// "; did you mean …?", or nothing where no word is near.
    static func hint(
        for word: String, among known: some Sequence<String>, prefix: String = ""
    ) -> String {
        nearest(to: word, among: known).map { "; did you mean '\(prefix)\($0)'?" } ?? ""
    }

    /// Nil also where several are just as near.
    static func nearest(to word: String, among known: some Sequence<String>) -> String? {
        // One slip in a short word, two in a longer one.
        let limit = word.count < 5 ? 1 : 2
        var best: (word: String, slips: Int)?
        var isTied = false
        for candidate in known where abs(candidate.count - word.count) <= limit {
            let slips = Self.slips(from: word, to: candidate)
            guard slips <= limit, slips <= best?.slips ?? limit else { continue }
            isTied = slips == best?.slips
            best = (candidate, slips)
        }
        return isTied ? nil : best?.word
    }

    /// Letters put in, left out, changed, or swapped with their neighbour.
    static func slips(from first: String, to second: String) -> Int {
        let (first, second) = (Array(first), Array(second))
        var before: [Int] = []
        var last = Array(0...second.count)
        for row in first.indices {
            var current = [row + 1]
            for column in second.indices {
                let isSame = first[row] == second[column]
                var least = min(last[column] + (isSame ? 0 : 1), last[column + 1] + 1, current[column] + 1)
                if row > 0, column > 0, first[row] == second[column - 1], first[row - 1] == second[column] {
                    least = min(least, before[column - 1] + 1)
                }
                current.append(least)
            }
            (before, last) = (last, current)
        }
        return last[second.count]
    }
}

extension UsageError {
    public static func noCommand(_ name: String) -> UsageError {
        UsageError(
            message: "there is no command '\(name)'" + NearMiss.hint(for: name, among: HelpText.commands),
            command: nil)
    }
}
