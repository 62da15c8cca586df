import HTTPServer
import Locking

/// How many bytes of answers each account has in hand: from when there is a need of room for one until it is sent.
final class AccountBytes: Sendable {
    private struct State {
        var all = 0
        var accounts: [String: Int] = [:]
    }

    private let limit: Int
    private let limitOfAll: Int
    private let state = Guarded(State())

    /// `limit`: of each account.
    init(limit: Int, ofAll limitOfAll: Int = .max) {
        self.limit = limit
        self.limitOfAll = limitOfAll
    }

    /// False while what the account has comes to the limit: whatever is made for it would only be thrown away.
    func hasRoom(_ account: String) -> Bool { state.withLock { $0.accounts[account, default: 0] < limit } }

    /// Nil when the account, or all of them, would have too much. Where nobody has anything in hand there is room for anything.
    func hold(_ count: Int, account: String) -> AnswerHold? {
        let isTaken = state.withLock { state in
            let before = state.accounts[account, default: 0]
            guard before == 0 || before + count <= limit, state.all == 0 || state.all + count <= limitOfAll
            else { return false }
            state.accounts[account] = before + count
            state.all += count
            return true
        }
        return isTaken ? letGo(count, account) : nil
    }

    /// The same of what is there already: it counts, whatever there is beside it.
    func count(_ count: Int, account: String) -> AnswerHold {
        state.withLock { state in
            state.accounts[account, default: 0] += count
            state.all += count
        }
        return letGo(count, account)
    }

    private func letGo(_ count: Int, _ account: String) -> AnswerHold {
        AnswerHold { [state] in
            state.withLock { state in
                let rest = state.accounts[account, default: 0] - count
                state.accounts[account] = rest > 0 ? rest : nil
                state.all -= count
            }
        }
    }
}
