/// Whose turn it is where few may be at work at once, and of each account one: in the order in which they came.
struct AnswerTurns {
    struct Limits: Sendable {
        /// At work, of all accounts.
        var working = 4
        /// Waiting, of one account.
        var waitingOfAccount = 32
        /// Waiting, of all accounts.
        var waiting = 1024
    }

    enum Answer: Equatable {
        case go
        case wait
        /// Too many wait already.
        case refused
    }

    private struct Waiter {
        var id: UInt64
        var account: String
    }

    private let limits: Limits
    private var working: Set<String> = []
    private var waiting: [Waiter] = []

    init(limits: Limits = Limits()) { self.limits = limits }

    /// `id` names whoever asks until it is its turn, or it gives up.
    mutating func ask(_ id: UInt64, account: String) -> Answer {
        if working.count < limits.working, !working.contains(account) {
            working.insert(account)
            return .go
        }
        guard waiting.count < limits.waiting,
            waiting.lazy.filter({ $0.account == account }).count < limits.waitingOfAccount
        else { return .refused }
        waiting.append(Waiter(id: id, account: account))
        return .wait
    }

    /// Ends the account's turn. Returns who has the next one.
    mutating func leave(account: String) -> UInt64? {
        working.remove(account)
        guard working.count < limits.working,
            let place = waiting.firstIndex(where: { !working.contains($0.account) })
        else { return nil }
        let next = waiting.remove(at: place)
        working.insert(next.account)
        return next.id
    }

    /// False when it has, or had, its turn.
    mutating func giveUp(_ id: UInt64) -> Bool {
        guard let place = waiting.firstIndex(where: { $0.id == id }) else { return false }
        waiting.remove(at: place)
        return true
    }
}
