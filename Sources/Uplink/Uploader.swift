import GatewayModel
import HTTPClient
import IngestAPI
import Locking
import Store
import UploadDecisions

/// Uploads what is stored, on a thread and a database connection of its own: it never blocks the sync.
///
/// The checkpoint is the store's set of unconfirmed rows, so that a healed gap, a late row or a correction below what
/// went up before still goes. A week without network is a normal state and costs no memory.
public final class Uploader: Sendable {
    let settings: UploadSettings
    let clock: any UploadClock
    private let random: InjectedRandom
    let board: UploadBoard
    private let openOutbox: @Sendable () throws -> any UploadOutbox
    private let openTransport: @Sendable (AbortFlag) -> any UploadTransport
    private let hooks: UploadHooks
    let mailbox = Mailbox()
    private let network: Guarded<NetworkState>
    private let thread = WorkerThread()
    private let abortFlag = AbortFlag()

    /// - Parameters:
    ///   - log: called on the upload thread.
    ///   - serverState: what the server holds of a device, once after each start, before anything of it is sent; nil =
    ///     it knows none. Called on the upload thread.
    ///   - serverDate: what a server whose certificate was verified said the time is, and between which two moments of
    ///     `clock`, ms. Called on the upload thread.
    ///   - storeMarked: samples were marked to be derived again; the store does so after `Store.takeUpMarks`. Called on
    ///     the upload thread.
    ///   - ownerChanged: the server said that this gateway owns a band, or does no more: the next session goes by it.
    ///     Called on the upload thread.
    ///   - storeDamaged: the upload's connection met damage in the database. Called on the upload thread.
    ///   - hostTrust: what this host's wall clock is worth: whose fault a certificate is that is not valid now.
    ///   - hostOffset: minutes that this host's local time is ahead of UTC, for `SendLimits.meteredHours`.
    public convenience init(
        settings: UploadSettings, stateDirectory: String, clock: any UploadClock = SystemUploadClock(),
        random: @escaping @Sendable () -> UInt64 = { .random(in: 0 ... .max) },
        log: @escaping @Sendable (UploadEvent) -> Void,
        serverState: @escaping @Sendable (DeviceID, ServerDeviceState?) -> Void,
        serverDate: @escaping @Sendable (_ date: Timestamp, _ sent: Int64, _ answered: Int64) -> Void = {
            _, _, _ in
        },
        storeMarked: @escaping @Sendable () -> Void = {},
        ownerChanged: @escaping @Sendable (DeviceID) -> Void = { _ in },
        storeDamaged: @escaping @Sendable (StoreError) -> Void = { _ in },
        hostTrust: @escaping @Sendable () -> HostTrust = { .plausible },
        hostOffset: @escaping @Sendable (Timestamp) -> Int = { _ in 0 }
    ) {
        let transport = settings.transport
        self.init(
            settings: settings, clock: clock, random: InjectedRandom(bits: random), log: log,
            hooks: UploadHooks(
                ownerChanged: ownerChanged, serverState: serverState, serverDate: serverDate,
                storeMarked: storeMarked, storeDamaged: storeDamaged, hostTrust: hostTrust,
                hostOffset: hostOffset),
            openOutbox: { try StoreOutbox(directory: stateDirectory, now: { clock.wall }) },
            openTransport: { ConfiguredTransport(transport, abortFlag: $0) })
    }

    init(
        settings: UploadSettings, clock: any UploadClock, random: InjectedRandom,
        log: @escaping @Sendable (UploadEvent) -> Void,
        hooks: UploadHooks,
        openOutbox: @escaping @Sendable () throws -> any UploadOutbox,
        openTransport: @escaping @Sendable (AbortFlag) -> any UploadTransport
    ) {
        let network = Guarded(NetworkState())
        var hooks = hooks
        hooks.network = { network.withLock { $0 } }
        self.network = network
        self.settings = settings
        self.clock = clock
        self.random = random
        self.hooks = hooks
        self.openOutbox = openOutbox
        self.openTransport = openTransport
        board = UploadBoard(log: log)
    }

    public var snapshot: UploadSnapshot { board.snapshot }

    /// Without a configured server there is nothing to start.
    public func start() {
        guard let url = settings.url else { return }
        if url.hasPrefix("http://"), !Self.isLoopback(url) { board.log(.notEncrypted) }
        board.show(.waiting)
        guard thread.start({ self.run(url: url) }) else {
            return board.show(.noAnswer(.unsendable), isSending: false, now: clock.wall)
        }
    }

    /// Ends the request that runs and waits for the thread, at most until the deadline. False = it still runs.
    @discardableResult
    public func stop(deadline: Duration) async -> Bool {
        mailbox.stop()
        abortFlag.raise()
        let isJoined = await thread.join(within: deadline)
        board.show(.stopped)
        return isJoined
    }

    /// Call after every commit; calls within a second are one.
    public func wake() { mailbox.wake() }

    /// What is said of the network. When it came, waits that are the gateway's own end: it is tried at once, once a second
    /// at most. It never keeps an upload from being tried.
    public func network(_ state: NetworkState, came: Bool) {
        network.withLock { $0 = state }
        if came { mailbox.prompt() } else { mailbox.wake() }
    }

    /// Asks the server what it holds of a device, in front of everything else that is to be sent.
    public func ask(_ device: DeviceID, deadline: Duration) async -> ServerAnswer {
        guard settings.url != nil else { return .noServer }
        let answer = OneShot<ServerAnswer>()
        let question = Mailbox.Question(device: device, until: clock.monotonic + deadline, answer: answer)
        guard mailbox.ask(question) else { return .unreachable }
        return await answer.value(within: deadline, else: .unreachable)
    }

    /// Asks the server for a band's lease, in front of everything else that is to be sent, because a band waits for it with
    /// an open link. What it says is written down.
    public func askLease(of device: DeviceID, deadline: Duration) async -> LeaseReply {
        let answer = OneShot<LeaseReply>()
        let until = clock.monotonic + deadline
        let order: Mailbox.Order = { worker in
            guard !answer.isSet else { return }
            answer.set(worker?.askLease(of: device, until: until) ?? .unanswered)
        }
        guard settings.url != nil, mailbox.give(order) else { return .unanswered }
        return await answer.value(within: deadline, else: .unanswered)
    }

    // MARK: the thread

    private func run(url: String) {
        let deadlines = HTTPDeadlines(
            connect: settings.intervals.connectDeadline, total: settings.intervals.requestDeadline)
        let server = UploadServer(
            url: url, transport: openTransport(abortFlag), deadlines: deadlines,
            date: ServerDate(url: url, clock: clock, hook: hooks.serverDate))
        let worker = UploadWorker(
            settings: settings, server: server, clock: clock, random: random, board: board,
            openOutbox: openOutbox, hooks: hooks)
        while true {
            let news = mailbox.take()
            for question in news.questions {
                if news.isStopping { question.answer.set(.unreachable) } else { worker.answer(question) }
            }
            for order in news.orders { order(news.isStopping ? nil : worker) }
            if news.isStopping { return worker.stopped() }
            if news.isPrompted { worker.prompted() }
            let wait = worker.step(wasWoken: news.wasWoken)
            if wait > .zero { mailbox.wait(atMost: wait) }
        }
    }

    private static func isLoopback(_ url: String) -> Bool {
        ["http://localhost", "http://127.", "http://[::1]"].contains { url.hasPrefix($0) }
    }
}
