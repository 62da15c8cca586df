/// What a server knows of its connections: what each is at, until when, and who has how many.
///
/// libmicrohttpd closes a connection that is idle; this finds those that are slow, and makes room when most of
/// the room is taken.
struct ConnectionTable {
    typealias ID = UInt

    enum Phase {
        /// A request's head is read or waited for.
        case head
        case body
        /// A body that nobody wants, of a request that is refused or that has no use for one: read and dropped, so
        /// that the answer gets through.
        case unwantedBody
        /// The server's own time.
        case handler
        case answer
    }

    private struct Entry {
        var descriptor: Int32
        var address: ClientAddress?
        var phase: Phase
        /// Nil = as long as it takes.
        var deadline: ContinuousClock.Instant?
        /// Its place in `waiting` while the server owes it nothing.
        var turn: UInt64?
    }

    private let limits: HTTPLimits
    private var entries: [ID: Entry] = [:]
    private var perAddress: [ClientAddress: Int] = [:]
    /// Connections in `head` or `unwantedBody`, the longest first, and others that were: an entry counts when its
    /// turn is the connection's own.
    private var waiting: [(id: ID, turn: UInt64)] = []
    private var firstWaiting = 0
    private var turns: UInt64 = 0

    init(limits: HTTPLimits) { self.limits = limits }

    var count: Int { entries.count }

    /// Whether one more connection from there is within the limit.
    func admits(_ address: ClientAddress?) -> Bool {
        guard let address, limits.connectionsPerAddress > 0 else { return true }
        return perAddress[address, default: 0] < limits.connectionsPerAddress
    }

    /// Takes a new connection. Returns the descriptor of one to close in its favour when nearly all room is
    /// taken: the one that has waited longest for a request.
    mutating func open(
        _ id: ID, descriptor: Int32, address: ClientAddress?, now: ContinuousClock.Instant
    ) -> Int32? {
        entries[id] = Entry(
            descriptor: descriptor, address: address, phase: .head, deadline: now + limits.headDeadline)
        takeTurn(id)
        if let address { perAddress[address, default: 0] += 1 }
        return entries.count > limits.connections - limits.connections / 8 ? giveUpLongestWaiting() : nil
    }

    mutating func close(_ id: ID) {
        guard let entry = entries.removeValue(forKey: id), let address = entry.address else { return }
        if let count = perAddress[address], count > 1 {
            perAddress[address] = count - 1
        } else {
            perAddress[address] = nil
        }
    }

    mutating func enter(_ phase: Phase, _ id: ID, now: ContinuousClock.Instant) {
        guard var entry = entries[id], entry.phase != phase else { return }
        entry.phase = phase
        entry.deadline = deadline(phase, now: now)
        entry.turn = nil
        entries[id] = entry
        switch phase {
        case .head, .unwantedBody: takeTurn(id)
        case .body, .handler, .answer: break
        }
    }

    private func deadline(_ phase: Phase, now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        switch phase {
        // The next request may be waited for as long as any byte may; then its head has its time.
        case .head: now + .seconds(limits.idleSeconds) + limits.headDeadline
        case .body: now + limits.bodyDeadline
        case .unwantedBody: now + limits.headDeadline
        case .handler: nil
        case .answer: now + limits.answerDeadline
        }
    }

    /// Descriptors of connections whose time is over, each named once.
    mutating func giveUpOverdue(now: ContinuousClock.Instant) -> [Int32] {
        var overdue: [Int32] = []
        for (id, entry) in entries {
            guard let deadline = entry.deadline, deadline < now else { continue }
            entries[id]?.deadline = nil
            overdue.append(entry.descriptor)
        }
        return overdue
    }

    private mutating func giveUpLongestWaiting() -> Int32? {
        while firstWaiting < waiting.count {
            let (id, turn) = waiting[firstWaiting]
            firstWaiting += 1
            guard let entry = entries[id], entry.turn == turn else { continue }
            entries[id]?.deadline = nil
            entries[id]?.turn = nil
            return entry.descriptor
        }
        return nil
    }

    private mutating func takeTurn(_ id: ID) {
        // Most of a long list are turns that are over.
        if waiting.count > 2 * entries.count + 1024 {
            waiting = waiting[firstWaiting...].filter { entries[$0.id]?.turn == $0.turn }
            firstWaiting = 0
        }
        turns += 1
        waiting.append((id, turns))
        entries[id]?.turn = turns
    }
}
