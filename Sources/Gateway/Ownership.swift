import GatewayModel
import Locking
import Store
import Uplink

/// Whether what a session stores may be acknowledged. Ingest API 1: "The owner acks; others observe."
struct Ownership: Sendable {
    /// The band waits for the answer with an open link.
    private static let deadline = Duration.seconds(10)

    /// What the server said last; nil = nothing yet.
    private let known: @Sendable (DeviceID) async throws -> BandLease?
    /// Asks the server; nil = there is none, so a band is owned by whoever is told to own it.
    private let ask: (@Sendable (DeviceID) async -> LeaseReply)?
    private let now: @Sendable () -> (wall: Timestamp, trust: HostTrust)
    /// Bands of which the server answered since the start.
    private let asked = Guarded(Set<DeviceID>())

    init(store: Store, uploader: Uploader?, hostWatch: HostClockWatch) {
        var ask: (@Sendable (DeviceID) async -> LeaseReply)?
        if let uploader { ask = { await uploader.askLease(of: $0, deadline: Self.deadline) } }
        self.init(
            known: { try await store.lease(of: $0) }, ask: ask,
            now: {
                let stamp = hostWatch.stamp()
                return (stamp.wall, stamp.trust)
            })
    }

    init(
        known: @escaping @Sendable (DeviceID) async throws -> BandLease?,
        ask: (@Sendable (DeviceID) async -> LeaseReply)?,
        now: @escaping @Sendable () -> (wall: Timestamp, trust: HostTrust)
    ) {
        self.known = known
        self.ask = ask
        self.now = now
    }

    /// Asked before the first session of each band since the start, for this card may have lain in a drawer while another
    /// gateway took the band over, and before a session where what the server said last does not suffice. While it can't be
    /// asked, the last owner goes on and a gateway that never was one observes; it is asked again before the next session.
    /// A server that was reached and does not take the token is not out of reach: the token of a gateway that was replaced is
    /// revoked, and the band is another's now.
    func lease(of band: AdoptedBand) async -> BandLease? {
        let known: BandLease?
        // An ack can't be taken back: what can't be read is taken for another's.
        do { known = try await self.known(band.device) } catch { return .unanswered }
        guard let ask, band.mode == .own else { return known }
        let now = now()
        let isFirst = asked.withLock { !$0.contains(band.device) }
        guard isFirst || BandLease.isToBeAsked(known, at: now.wall, trust: now.trust) else { return known }
        switch await ask(band.device) {
        case .said(let lease):
            _ = asked.withLock { $0.insert(band.device) }
            return lease
        case .refused: return .unanswered
        case .unanswered: return known ?? .unanswered
        }
    }

    /// As the server said last, in the middle of a session: nobody is asked.
    func lastSaid(of band: AdoptedBand) async -> BandLease? {
        let known: BandLease?
        do { known = try await self.known(band.device) } catch { return .unanswered }
        return ask == nil ? known : known ?? .unanswered
    }
}

/// Tells the bands' keepers what the upload learnt of their bands; connected once there are any.
final class DeviceRelay: Sendable {
    private let devices: AsyncStream<DeviceID>
    private let continuation: AsyncStream<DeviceID>.Continuation

    init() {
        // A band that is dropped is told by the next word of it, or its next session.
        (devices, continuation) = AsyncStream.makeStream(bufferingPolicy: .bufferingNewest(256))
    }

    deinit { continuation.finish() }

    func give(_ device: DeviceID) { continuation.yield(device) }

    func connect(_ receive: @escaping @Sendable (DeviceID) async -> Void) -> Task<Void, Never> {
        let devices = devices
        return Task { for await device in devices { await receive(device) } }
    }
}
