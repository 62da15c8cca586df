import CMicrohttpd
import Dispatch
import Glibc
import Locking

/// An HTTP/1.1 server over libmicrohttpd.
///
/// One thread of the library moves all bytes; a handler runs as a task, its connection suspended meanwhile, so
/// a slow handler holds up nobody. The server runs until `stop` returns.
public final class HTTPServer: Sendable {
    public typealias Handler = @Sendable (ServerRequest) async -> ServerResponse
    /// Judges a request by its head, its body still empty. Called on the server's one thread.
    public typealias Admit = @Sendable (ServerRequest) -> Admission
    public typealias Refuse = @Sendable (HTTPRefusal) -> ServerResponse

    /// With the port that was chosen.
    public let address: ListenAddress

    let core: ServerCore
    /// Nil when stopped. The pointer is libmicrohttpd's own and used by `stop` alone.
    private let daemon: Guarded<UInt?>

    /// The library closes nothing of it before `stop` does.
    private let listener: Int32

    private init(address: ListenAddress, listener: Int32, core: ServerCore, daemon: OpaquePointer) {
        self.address = address
        self.listener = listener
        self.core = core
        self.daemon = Guarded(UInt(bitPattern: daemon))
    }

    /// Speaks TLS when `tls` is given. `admit` may answer before a body is kept. `refuse` shapes the answers to
    /// requests that don't reach the handler; plain text unless given. `handler` runs as a task of its own for
    /// each request.
    public static func start(
        address: ListenAddress, tls: TLSIdentity? = nil, limits: HTTPLimits = HTTPLimits(),
        admit: @escaping Admit = { _ in .admitted }, refuse: @escaping Refuse = plainRefusal,
        handler: @escaping Handler
    ) throws(HTTPServerFailure) -> HTTPServer {
        guard bandferry_mhd_load() else {
            throw HTTPServerFailure(
                operation: "load", address: address, reason: HTTPServerFailure.notInstalled, errno: 0)
        }
        let socket = try ListenSocket(address)
        let core = ServerCore(
            limits: limits, tls: tls.map(TLSSlot.init), admit: admit, refuse: refuse, handler: handler)
        let context = Unmanaged.passRetained(core)
        let daemon = TLSSlot.priorities.withCString { priorities in
            var options = bandferry_mhd_options(
                listen_socket: socket.descriptor, connection_memory: limits.connectionMemoryBytes,
                connections: UInt32(limits.connections), idle_seconds: UInt32(limits.idleSeconds),
                parameters: UInt32(limits.parameters),
                tls: core.tls?.slot, tls_priorities: priorities, accept: acceptPolicy,
                notify: connectionChanged, handler: accessHandler, completed: requestCompleted,
                cls: context.toOpaque())
            return bandferry_mhd_start(&options)
        }
        guard let daemon else {
            context.release()
            throw HTTPServerFailure(
                operation: "start", address: socket.address, reason: "libmicrohttpd refused its options",
                errno: 0)
        }
        return HTTPServer(address: socket.address, listener: socket.descriptor, core: core, daemon: daemon)
    }

    /// What new connections are shown from now on. For a server that was started with TLS.
    public func replace(tls identity: TLSIdentity) { core.tls?.replace(identity) }

    public var counts: HTTPCounts { core.watch.counts }

    /// How long nothing must come for nothing to be on its way.
    private static let quiet = Duration.milliseconds(50)

    public static let plainRefusal: Refuse = { refusal in
        ServerResponse(
            status: refusal.status, contentType: "text/plain; charset=utf-8",
            body: Array("\(refusal.status)\n".utf8))
    }

    /// Accepts nobody any more, lets running requests finish until the deadline, then closes all connections.
    ///
    /// A request that comes meanwhile, or is not answered by then, gets `HTTPRefusal.stopping`. A second call does
    /// nothing.
    public func stop(within deadline: Duration = .seconds(10)) async {
        guard let bits = daemon.withLock({ $0.take() }) else { return }
        let end = ContinuousClock.now + deadline
        core.requests.stop()
        // Who waits in the backlog is let in, to be told.
        repeat { try? await Task.sleep(for: Self.quiet) } while hasBacklog && .now < end
        let listener = bandferry_mhd_quiesce(OpaquePointer(bitPattern: bits))
        if listener >= 0 { close(listener) }
        if let path = address.path { unlink(path) }
        // A request may be on its way on a connection that was idle: it is over when a while brings none.
        var begun: Int
        repeat {
            await core.requests.idle(within: end - .now)
            begun = core.requests.begun
            try? await Task.sleep(for: Self.quiet)
        } while core.requests.begun != begun && .now < end
        core.requests.abandon(core.refuse(.stopping))
        // The answers of the abandoned still want to be sent.
        await core.requests.idle(within: .milliseconds(500))
        let core = core
        await withCheckedContinuation { continuation in
            // It joins the library's thread: not on Swift's shared pool.
            DispatchQueue(label: "http-server-stop").async { @Sendable in
                bandferry_mhd_stop(OpaquePointer(bitPattern: bits))
                Unmanaged.passUnretained(core).release()
                continuation.resume()
            }
        }
    }

    /// Somebody has connected and was not let in yet.
    private var hasBacklog: Bool {
        var request = pollfd(fd: listener, events: Int16(POLLIN), revents: 0)
        return poll(&request, 1, 0) > 0 && request.revents & Int16(POLLIN) != 0
    }
}
