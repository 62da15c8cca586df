import CDBus
import Dispatch

/// One libdbus timeout on a dispatch timer. Used only on the connection's queue.
final class BusTimer {
    private let source: any DispatchSourceTimer
    private var running = false

    init(_ timeout: OpaquePointer, queue: DispatchQueue, handle: @escaping @Sendable () -> Void) {
        source = DispatchSource.makeTimerSource(queue: queue)
        source.setEventHandler { handle() }
        update(timeout)
    }

    func update(_ timeout: OpaquePointer) {
        let enabled = dbus_timeout_get_enabled(timeout) != 0
        let interval = DispatchTimeInterval.milliseconds(Int(max(1, dbus_timeout_get_interval(timeout))))
        if enabled { source.schedule(deadline: .now() + interval, repeating: interval) }
        guard enabled != running else { return }
        running = enabled
        if enabled { source.resume() } else { source.suspend() }
    }

    func cancel() {
        if !running { source.resume() }
        running = true
        source.cancel()
    }
}
