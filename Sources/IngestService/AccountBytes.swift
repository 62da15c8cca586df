import HTTPServer
import Locking

/// How many bytes of answers each account has in hand: from when one is written until it is sent.
final class AccountBytes: Sendable {
    private let limit: Int
    private let held = Guarded<[String: Int]>([:])

    /// `limit`: of each account.
    init(limit: Int) { self.limit = limit }

    /// Nil when the account would have too much. Where it has nothing in hand there is room for anything.
    func hold(_ count: Int, account: String) -> AnswerHold? {
        let isTaken = held.withLock { held in
            let before = held[account, default: 0]
            guard before == 0 || before + count <= limit else { return false }
            held[account] = before + count
            return true
        }
        guard isTaken else { return nil }
        return AnswerHold { [held] in
            held.withLock { held in
                let rest = held[account, default: 0] - count
                held[account] = rest > 0 ? rest : nil
            }
        }
    }
}
