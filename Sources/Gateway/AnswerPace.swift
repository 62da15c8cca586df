/// When open questions are looked at again: soon while the server is out of reach, at growing distances while the answers
/// can't be stored, each of which costs a request. Pure.
struct AnswerPace {
    /// How a round over all open questions ended.
    enum Round {
        case done
        /// The server could not be reached for some.
        case unreachable
        /// Some could not be read, or their answers not be stored.
        case failed
    }

    static let first: Duration = .seconds(15)
    static let longest: Duration = .seconds(960)

    private var next = first

    /// From the end of this round to the next one; nil = until there is a question.
    mutating func wait(after round: Round) -> Duration? {
        guard round == .failed else {
            next = Self.first
            return round == .done ? nil : Self.first
        }
        defer { next = min(next * 2, Self.longest) }
        return next
    }
}
