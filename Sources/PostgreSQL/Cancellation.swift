import CPostgreSQL
import Synchronization

/// Asks the server to stop what a connection runs. PQcancel blocks, so it gets a thread of its own.
enum Cancellation {
    /// How long the caller waits for the request to arrive.
    private static let patience = Duration.milliseconds(250)
    /// Requests to a server that says nothing hang: beyond these no more are made.
    private static let limit = 16
    private static let underWay = Atomic<Int>(0)

    private struct Request: @unchecked Sendable {
        let pointer: OpaquePointer
    }

    static func request(_ handle: OpaquePointer) {
        guard underWay.add(1, ordering: .relaxed).newValue <= limit, let pointer = PQgetCancel(handle) else {
            underWay.subtract(1, ordering: .relaxed)
            return
        }
        let request = Request(pointer: pointer)
        let outcome = DetachedThread.run(until: ContinuousClock.now + patience) {
            var complaint = [CChar](repeating: 0, count: 256)
            PQcancel(request.pointer, &complaint, Int32(complaint.count))
            PQfreeCancel(request.pointer)
            underWay.subtract(1, ordering: .relaxed)
        } late: {
        }
        guard case .noThread = outcome else { return }
        PQfreeCancel(pointer)
        underWay.subtract(1, ordering: .relaxed)
    }
}
