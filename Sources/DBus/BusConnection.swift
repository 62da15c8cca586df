import Threading

/// A connection to a message bus. It never blocks, and every call has a deadline.
///
/// It runs on its own serial queue, where handlers are called too: they must return at once. Another actor may
/// share the queue by returning `unownedExecutor` as its own; then handlers may `assumeIsolated` on it.
public actor BusConnection {
    public nonisolated let uniqueName: String
    public nonisolated let executor: QueueExecutor
    private nonisolated let transport: BusTransport

    public nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private init(transport: BusTransport, uniqueName: String) {
        self.transport = transport
        self.uniqueName = uniqueName
        executor = transport.executor
    }

    deinit {
        let transport = transport
        transport.queue.async { transport.shutDown() }
    }

    /// Connects and says Hello. An executor is given to share its queue with the actor that uses the connection.
    public static func open(
        _ address: BusAddress, executor: QueueExecutor = QueueExecutor(label: "bandferry.bus"),
        deadline: Duration = .seconds(10)
    ) async throws(BusError) -> BusConnection {
        let transport = BusTransport(executor: executor)
        let address = try address.resolved()
        let result: CallResult = await withCheckedContinuation { continuation in
            transport.queue.async {
                do throws(BusError) {
                    try transport.open(address)
                    let hello = try BusMessage.call(
                        Bus.name, path: Bus.path, interface: Bus.name, member: "Hello", [], autoStart: false,
                        expectsReply: true)
                    _ = transport.send(hello, deadline: deadline) { continuation.resume(returning: $0) }
                } catch {
                    continuation.resume(returning: .failure(error))
                }
            }
        }
        do throws(BusError) {
            guard let name = try result.get().first?.text else {
                throw BusError(name: "org.freedesktop.DBus.Error.Failed", message: "the bus gave us no name")
            }
            return BusConnection(transport: transport, uniqueName: name)
        } catch {
            transport.queue.async { transport.shutDown() }
            throw error
        }
    }

    /// Ends the connection; calls that wait fail with `org.bandferry.Error.Disconnected`.
    public func close() { transport.shutDown() }

    /// Returns when everything queued has been written to the socket, or the connection has ended.
    public func flush() async {
        await withCheckedContinuation { continuation in
            transport.whenFlushed { continuation.resume() }
        }
    }

    public var isConnected: Bool { transport.connection != nil }

    // MARK: calling

    /// Calls a method and waits for its reply, at most for the deadline.
    ///
    /// A reply with file descriptors is refused unless they are asked for, and then they are the caller's.
    /// A subject lets `failCalls` end the call. `onReply` sees the reply on the queue, before any later signal. Cancelling the task ends the wait, not the work of the service.
    public func call(
        _ destination: String, path: String, interface: String, _ member: String,
        _ arguments: [BusValue] = [], deadline: Duration, autoStart: Bool = false,
        takesFileDescriptors: Bool = false, about subject: String? = nil,
        onReply: (@Sendable ([BusValue]) -> Void)? = nil
    ) async throws(BusError) -> [BusValue] {
        let message = try BusMessage.call(
            destination, path: path, interface: interface, member: member, arguments, autoStart: autoStart,
            expectsReply: true)
        let wait = CallWait()
        let result: CallResult = await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                wait.serial = transport.send(
                    message, deadline: deadline, takesFileDescriptors: takesFileDescriptors, subject: subject
                ) { result in
                    if let onReply, case .success(let values) = result { onReply(values) }
                    continuation.resume(returning: result)
                }
                if Task.isCancelled, let serial = wait.serial { transport.cancel(serial) }
            }
        } onCancel: {
            let transport = transport
            transport.queue.async { if let serial = wait.serial { transport.cancel(serial) } }
        }
        return try result.get()
    }

    /// Ends every waiting call about a subject with an error: what it was about has gone.
    public func failCalls(about subject: String, with error: BusError) {
        transport.failCalls(about: subject, with: error)
    }

    /// Queues a call that is not to be answered.
    public nonisolated func callWithoutReply(
        _ destination: String, path: String, interface: String, _ member: String, _ arguments: [BusValue] = []
    ) throws(BusError) {
        transport.post(
            try BusMessage.call(
                destination, path: path, interface: interface, member: member, arguments, autoStart: false,
                expectsReply: false))
    }

    // MARK: the bus itself

    /// False: somebody else owns the name.
    public func requestName(_ name: String) async throws(BusError) -> Bool {
        // DBUS_NAME_FLAG_DO_NOT_QUEUE; 1 = primary owner, 4 = we already were.
        let reply = try await bus("RequestName", [.string(name), .uint32(4)])
        return reply.first?.integer == 1 || reply.first?.integer == 4
    }

    public func releaseName(_ name: String) async throws(BusError) {
        _ = try await bus("ReleaseName", [.string(name)])
    }

    public func addMatch(_ rule: String) async throws(BusError) {
        _ = try await bus("AddMatch", [.string(rule)])
    }

    public func removeMatch(_ rule: String) async throws(BusError) {
        _ = try await bus("RemoveMatch", [.string(rule)])
    }

    /// The unique name of the owner; nil when nobody owns it.
    public func owner(of name: String) async throws(BusError) -> String? {
        do throws(BusError) {
            return try await bus("GetNameOwner", [.string(name)]).first?.text
        } catch {
            guard error.name == "org.freedesktop.DBus.Error.NameHasNoOwner" else { throw error }
            return nil
        }
    }

    private func bus(_ member: String, _ arguments: [BusValue]) async throws(BusError) -> [BusValue] {
        try await call(
            Bus.name, path: Bus.path, interface: Bus.name, member, arguments, deadline: .seconds(10))
    }

    // MARK: being called

    /// Every signal, in the order of arrival, on the connection's queue: must return at once.
    public func setSignalHandler(_ handler: (@Sendable (BusSignal) -> Void)?) {
        transport.signalHandler = handler
    }

    /// Calls that no tree answers, in the order of arrival, on the connection's queue: must return at once.
    public func setCallHandler(_ handler: (@Sendable (MethodCall) -> CallOutcome)?) {
        transport.callHandler = handler
    }

    /// Called once when the bus drops us; not after `close`.
    public func setDisconnectHandler(_ handler: (@Sendable () -> Void)?) {
        transport.disconnectHandler = handler
    }

    /// Answers calls from the tree, and sends the tree's signals, from now on.
    public func serve(_ tree: ObjectTree) {
        transport.tree = tree
        tree.attach { [weak transport] in transport?.post($0) }
    }

    /// Answers an incoming call, behind all that was sent before. Only `.reply` and `.failure` do anything.
    public nonisolated func reply(to token: UInt64, with outcome: CallOutcome) {
        transport.reply(to: token, with: outcome)
    }

    /// Sends a signal, behind all that was sent before. One that D-Bus can't carry throws.
    public nonisolated func emit(_ signal: BusSignal, to destination: String? = nil) throws(BusError) {
        transport.post(try BusMessage.signal(signal, to: destination))
    }
}

/// The serial of a call under way; used on the connection's queue only.
private final class CallWait: @unchecked Sendable {
    var serial: UInt32?
}

/// The message bus's own names.
enum Bus {
    static let name = "org.freedesktop.DBus"
    static let path = "/org/freedesktop/DBus"
}
