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
    /// Judges a request by its head, its body still empty; what it returns is the answer.
    public typealias Admit = @Sendable (ServerRequest) -> ServerResponse?
    public typealias Refuse = @Sendable (HTTPRefusal) -> ServerResponse

    /// With the port that was chosen.
    public let address: ListenAddress

    private let core: ServerCore
    /// Nil when stopped. The pointer is libmicrohttpd's own and used by `stop` alone.
    private let daemon: Guarded<UInt?>

    private init(address: ListenAddress, core: ServerCore, daemon: OpaquePointer) {
        self.address = address
        self.core = core
        self.daemon = Guarded(UInt(bitPattern: daemon))
    }

    /// `admit` may answer before a body is kept. `refuse` shapes the answers to requests that don't reach the
    /// handler; plain text unless given. `handler` runs as a task of its own for each request.
    public static func start(
        address: ListenAddress, limits: HTTPLimits = HTTPLimits(), admit: @escaping Admit = { _ in nil },
        refuse: @escaping Refuse = plainRefusal,
        handler: @escaping Handler
    ) throws(HTTPServerFailure) -> HTTPServer {
        let socket = try ListenSocket(address)
        let core = ServerCore(limits: limits, admit: admit, refuse: refuse, handler: handler)
        let context = Unmanaged.passRetained(core)
        let daemon = bandferry_mhd_start(
            socket.descriptor, accessHandler, requestCompleted, context.toOpaque(),
            limits.connectionMemoryBytes,
            UInt32(limits.connections), UInt32(limits.connectionsPerAddress), UInt32(limits.idleSeconds))
        guard let daemon else {
            context.release()
            throw HTTPServerFailure(
                operation: "start", address: socket.address, reason: "libmicrohttpd refused its options",
                errno: 0)
        }
        return HTTPServer(address: socket.address, core: core, daemon: daemon)
    }

    public static let plainRefusal: Refuse = { refusal in
        ServerResponse(
            status: refusal.status, contentType: "text/plain; charset=utf-8",
            body: Array("\(refusal.status)\n".utf8))
    }

    /// Accepts nobody any more, lets running requests finish until the deadline, then closes all connections.
    ///
    /// A request that is not answered by then gets `HTTPRefusal.stopping`. A second call does nothing.
    public func stop(within deadline: Duration = .seconds(10)) async {
        guard let bits = daemon.withLock({ $0.take() }) else { return }
        core.beginStopping()
        let listener = MHD_quiesce_daemon(OpaquePointer(bitPattern: bits))
        if listener >= 0 { close(listener) }
        await core.idle(within: deadline)
        core.abandonRunning()
        // The answers of the abandoned still want to be sent.
        await core.idle(within: .milliseconds(500))
        let core = core
        await withCheckedContinuation { continuation in
            // It joins the library's thread: not on Swift's shared pool.
            DispatchQueue(label: "http-server-stop").async { @Sendable in
                MHD_stop_daemon(OpaquePointer(bitPattern: bits))
                Unmanaged.passUnretained(core).release()
                continuation.resume()
            }
        }
    }
}
