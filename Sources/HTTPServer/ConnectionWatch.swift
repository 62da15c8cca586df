import CMicrohttpd
import Dispatch
import Glibc
import Locking

/// Closes the connections that take too long, whatever bytes they move, and counts.
///
/// It shuts a socket down; libmicrohttpd sees the end and closes it. A descriptor leaves the table before the
/// library closes it, and both happen under one lock, so that none is ever mistaken for another.
///
/// The timer is only kept and cancelled.
final class ConnectionWatch: @unchecked Sendable {
    private struct State {
        var table: ConnectionTable
        var counts = HTTPCounts()
    }

    private let state: Guarded<State>
    private let timer: any DispatchSourceTimer

    init(limits: HTTPLimits) {
        let state = Guarded(State(table: ConnectionTable(limits: limits)))
        self.state = state
        timer = DispatchSource.makeTimerSource(queue: DispatchQueue(label: "http-server-watch"))
        timer.schedule(deadline: .now() + .seconds(1), repeating: .seconds(1), leeway: .milliseconds(100))
        timer.setEventHandler { @Sendable in
            state.withLock { state in
                for descriptor in state.table.giveUpOverdue(now: .now) {
                    state.counts.overdue += 1
                    shutdown(descriptor, Int32(SHUT_RDWR))
                }
            }
        }
        timer.resume()
    }

    deinit { timer.cancel() }

    var counts: HTTPCounts {
        state.withLock {
            var counts = $0.counts
            counts.connections = $0.table.count
            return counts
        }
    }

    func admits(_ address: ClientAddress?) -> Bool {
        state.withLock {
            let admits = $0.table.admits(address)
            if !admits { $0.counts.overAddressLimit += 1 }
            return admits
        }
    }

    func opened(_ connection: OpaquePointer, descriptor: Int32, address: ClientAddress?) {
        state.withLock {
            $0.counts.accepted += 1
            let given = $0.table.open(
                ConnectionTable.ID(bitPattern: connection), descriptor: descriptor, address: address,
                now: .now)
            guard let given else { return }
            $0.counts.crowdedOut += 1
            shutdown(given, Int32(SHUT_RDWR))
        }
    }

    func closed(_ connection: OpaquePointer) {
        state.withLock { $0.table.close(ConnectionTable.ID(bitPattern: connection)) }
    }

    func enter(_ phase: ConnectionTable.Phase, _ connection: OpaquePointer) {
        state.withLock { $0.table.enter(phase, ConnectionTable.ID(bitPattern: connection), now: .now) }
    }
}

/// What a server saw of its connections since it started.
public struct HTTPCounts: Sendable, Equatable {
    /// Open now.
    public var connections = 0
    public var accepted = 0
    /// Closed because they were too slow.
    public var overdue = 0
    /// Closed, while they waited for a request, to make room for others.
    public var crowdedOut = 0
    /// Closed at once: their address had as many as it may have.
    public var overAddressLimit = 0
}
