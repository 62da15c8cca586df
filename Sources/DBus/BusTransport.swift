import CDBus
import Dispatch
import Threading

/// A private libdbus connection on dispatch sources. It never blocks.
///
/// Everything but `post` and `reply` runs on `executor.queue`, where libdbus's callbacks arrive too; that is why
/// it may be shared.
final class BusTransport: @unchecked Sendable {
    let executor: QueueExecutor
    let outbox = BusOutbox()
    var queue: DispatchQueue { executor.queue }

    var signalHandler: (@Sendable (BusSignal) -> Void)?
    var callHandler: (@Sendable (MethodCall) -> CallOutcome)?
    var disconnectHandler: (@Sendable () -> Void)?
    var tree: ObjectTree?

    var connection: OpaquePointer?
    var pending = PendingCalls()
    private var watches: [OpaquePointer: BusWatch] = [:]
    private var timers: [OpaquePointer: BusTimer] = [:]
    private var deadlineTimer: (any DispatchSourceTimer)?
    private var armedDeadline: DispatchTime?
    private var dispatchIsScheduled = false
    private var flushWaiters: [() -> Void] = []

    init(executor: QueueExecutor) {
        self.executor = executor
    }

    // MARK: life

    func open(_ address: String) throws(BusError) {
        dbus_threads_init_default()
        guard let connection = try throwing({ dbus_connection_open_private(address, $0) }) else {
            throw .disconnected
        }
        self.connection = connection
        dbus_connection_set_exit_on_disconnect(connection, 0)
        let this = Unmanaged.passUnretained(self).toOpaque()
        dbus_connection_add_filter(connection, { _, message, this in received(message, this) }, this, nil)
        dbus_connection_set_dispatch_status_function(
            connection, { _, status, this in statusChanged(status, this) }, this, nil)
        let isTimed = dbus_connection_set_timeout_functions(
            connection, { addTimer($0, $1) }, { removeTimer($0, $1) }, { toggleTimer($0, $1) }, this, nil)
        let isWatched = dbus_connection_set_watch_functions(
            connection, { addWatch($0, $1) }, { removeWatch($0, $1) }, { toggleWatch($0, $1) }, this, nil)
        // Nothing would be read from it, for want of a descriptor.
        guard isTimed != 0, isWatched != 0 else {
            shutDown()
            throw .noMemory
        }
        let timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { [weak self] in self?.deadlinePassed() }
        timer.resume()
        deadlineTimer = timer
    }

    /// Ends the connection; every waiting call fails. Idempotent.
    func shutDown() {
        guard let connection else { return }
        self.connection = nil
        outbox.close()
        deadlineTimer?.cancel()
        deadlineTimer = nil
        dbus_connection_set_dispatch_status_function(connection, nil, nil, nil)
        dbus_connection_close(connection)
        dbus_connection_set_watch_functions(connection, nil, nil, nil, nil, nil)
        dbus_connection_set_timeout_functions(connection, nil, nil, nil, nil, nil)
        for entry in pending.takeAll() { entry.complete(.failure(.disconnected)) }
        for waiter in flushWaiters { waiter() }
        flushWaiters = []
        signalHandler = nil
        callHandler = nil
        tree = nil
        // We may be inside a dispatch of this connection: let go after it. The filter needs `self` until then.
        let last = UncheckedPointer(pointer: connection)
        queue.async {
            dbus_connection_unref(last.pointer)
            withExtendedLifetime(self) {}
        }
    }

    private func lost() {
        let handler = disconnectHandler
        disconnectHandler = nil
        shutDown()
        handler?()
    }

    // MARK: sending

    /// Queues a message behind all that were posted before, from any thread.
    func post(_ message: BusMessage) {
        let mustDrain = outbox.post(message)
        if executor.isCurrent {
            drain()
        } else if mustDrain {
            queue.async { self.drain() }
        }
    }

    func drain() {
        let messages = outbox.takeMessages()
        guard let connection else { return }
        for message in messages {
            dbus_connection_send(connection, message.pointer, nil)
        }
    }

    /// Sends a call now, behind what was posted; `complete` is called once, on the queue.
    /// Returns the call's serial, or nil when it failed at once.
    func send(
        _ message: BusMessage, deadline: Duration, takesFileDescriptors: Bool = false, subject: String? = nil,
        complete: @escaping (CallResult) -> Void
    ) -> UInt32? {
        drain()
        var serial: UInt32 = 0
        guard let connection, dbus_connection_get_is_connected(connection) != 0,
            dbus_connection_send(connection, message.pointer, &serial) != 0
        else {
            complete(.failure(.disconnected))
            return nil
        }
        let time = deadline.asDispatchTime
        pending.add(
            .init(
                deadline: time, takesFileDescriptors: takesFileDescriptors, subject: subject,
                complete: complete),
            serial: serial)
        armDeadline(time)
        return serial
    }

    func cancel(_ serial: UInt32) {
        pending.take(serial: serial)?.complete(.failure(.cancelled))
    }

    func failCalls(about subject: String, with error: BusError) {
        for entry in pending.take(about: subject) { entry.complete(.failure(error)) }
    }

    func whenFlushed(_ done: @escaping () -> Void) {
        drain()
        flushWaiters.append(done)
        checkFlushed()
    }

    private func checkFlushed() {
        guard !flushWaiters.isEmpty else { return }
        if let connection, dbus_connection_has_messages_to_send(connection) != 0 { return }
        let waiters = flushWaiters
        flushWaiters = []
        for waiter in waiters { waiter() }
    }

    // MARK: deadlines

    private func armDeadline(_ time: DispatchTime) {
        if let armedDeadline, armedDeadline <= time { return }
        armedDeadline = time
        deadlineTimer?.schedule(deadline: time)
    }

    private func deadlinePassed() {
        armedDeadline = nil
        let expired = pending.takeExpired(at: .now())
        if let next = pending.nextDeadline { armDeadline(next) }
        for entry in expired {
            entry.complete(
                .failure(BusError(name: BusError.deadlineName, message: "no reply within the deadline")))
        }
    }

    // MARK: receiving

    /// Dispatches a bounded number of messages, then lets the queue's other work run.
    fileprivate func dispatch() {
        dispatchIsScheduled = false
        for _ in 0..<64 {
            guard let connection else { return }
            guard dbus_connection_dispatch(connection) == DBUS_DISPATCH_DATA_REMAINS else {
                checkFlushed()
                return
            }
        }
        scheduleDispatch()
    }

    fileprivate func scheduleDispatch() {
        guard !dispatchIsScheduled else { return }
        dispatchIsScheduled = true
        queue.async { self.dispatch() }
    }

    fileprivate func handle(_ message: OpaquePointer) {
        switch dbus_message_get_type(message) {
        case BusMessageType.signal:
            if dbus_message_is_signal(message, "org.freedesktop.DBus.Local", "Disconnected") != 0 {
                lost()
            } else {
                handleSignal(message)
            }
        case BusMessageType.reply, BusMessageType.error: handleReply(message)
        case BusMessageType.call: handleCall(BusMessage(retaining: message))
        default: break
        }
    }

    // MARK: watches and timers

    fileprivate func add(watch: OpaquePointer) -> Bool {
        let pointer = UncheckedPointer(pointer: watch)
        let made = BusWatch(watch, queue: queue) { [weak self] condition in
            self?.ready(pointer.pointer, condition)
        }
        guard let made else { return false }
        watches[watch] = made
        return true
    }

    private func ready(_ watch: OpaquePointer, _ condition: UInt32) {
        guard connection != nil, watches[watch] != nil, dbus_watch_get_enabled(watch) != 0 else { return }
        dbus_watch_handle(watch, condition)
        if condition == DBUS_WATCH_READABLE.rawValue {
            dispatch()
        } else {
            checkFlushed()
        }
    }

    fileprivate func toggle(watch: OpaquePointer) {
        watches[watch]?.setEnabled(dbus_watch_get_enabled(watch) != 0)
    }

    fileprivate func remove(watch: OpaquePointer) {
        watches.removeValue(forKey: watch)?.cancel()
    }

    fileprivate func add(timer: OpaquePointer) {
        let pointer = UncheckedPointer(pointer: timer)
        timers[timer] = BusTimer(timer, queue: queue) { [weak self] in
            guard let self, connection != nil, timers[pointer.pointer] != nil else { return }
            dbus_timeout_handle(pointer.pointer)
        }
    }

    fileprivate func toggle(timer: OpaquePointer) { timers[timer]?.update(timer) }

    fileprivate func remove(timer: OpaquePointer) { timers.removeValue(forKey: timer)?.cancel() }
}

/// A libdbus object's address, to be used on the connection's queue only.
struct UncheckedPointer: @unchecked Sendable {
    let pointer: OpaquePointer
}

// MARK: libdbus's callbacks; all of them arrive on the queue, since libdbus is only called there

private func transport(_ this: UnsafeMutableRawPointer?) -> BusTransport? {
    this.map { Unmanaged<BusTransport>.fromOpaque($0).takeUnretainedValue() }
}

private func received(_ message: OpaquePointer?, _ this: UnsafeMutableRawPointer?) -> DBusHandlerResult {
    if let message { transport(this)?.handle(message) }
    return DBUS_HANDLER_RESULT_HANDLED
}

private func statusChanged(_ status: DBusDispatchStatus, _ this: UnsafeMutableRawPointer?) {
    if status == DBUS_DISPATCH_DATA_REMAINS { transport(this)?.scheduleDispatch() }
}

private func addWatch(_ watch: OpaquePointer?, _ this: UnsafeMutableRawPointer?) -> dbus_bool_t {
    guard let watch, let transport = transport(this) else { return 0 }
    return transport.add(watch: watch) ? 1 : 0
}

private func toggleWatch(_ watch: OpaquePointer?, _ this: UnsafeMutableRawPointer?) {
    if let watch { transport(this)?.toggle(watch: watch) }
}

private func removeWatch(_ watch: OpaquePointer?, _ this: UnsafeMutableRawPointer?) {
    if let watch { transport(this)?.remove(watch: watch) }
}

private func addTimer(_ timer: OpaquePointer?, _ this: UnsafeMutableRawPointer?) -> dbus_bool_t {
    guard let timer, let transport = transport(this) else { return 0 }
    transport.add(timer: timer)
    return 1
}

private func toggleTimer(_ timer: OpaquePointer?, _ this: UnsafeMutableRawPointer?) {
    if let timer { transport(this)?.toggle(timer: timer) }
}

private func removeTimer(_ timer: OpaquePointer?, _ this: UnsafeMutableRawPointer?) {
    if let timer { transport(this)?.remove(timer: timer) }
}
