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
    /// Asks the server; nil = it did not answer. Nil as a whole = there is none, so a band is owned by whoever is told to
    /// own it.
    private let ask: (@Sendable (DeviceID) async -> BandLease?)?
    private let now: @Sendable () -> (wall: Timestamp, trust: HostTrust)
    /// Bands of which the server answered since the start.
    private let asked = Guarded(Set<DeviceID>())

    init(store: Store, uploader: Uploader?, hostWatch: HostClockWatch) {
        var ask: (@Sendable (DeviceID) async -> BandLease?)?
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
        ask: (@Sendable (DeviceID) async -> BandLease?)?,
        now: @escaping @Sendable () -> (wall: Timestamp, trust: HostTrust)
    ) {
        self.known = known
        self.ask = ask
        self.now = now
    }

    /// Asked before the first session of each band since the start, for this card may have lain in a drawer while another
    /// gateway took the band over, and before a session where what the server said last does not suffice. While it can't be
    /// asked, the last owner goes on and a gateway that never was one observes; it is asked again before the next session.
    func lease(of band: AdoptedBand) async -> BandLease? {
        let known: BandLease?
        // An ack can't be taken back: what can't be read is taken for another's.
        do { known = try await self.known(band.device) } catch { return .unanswered }
        guard let ask, band.mode == .own else { return known }
        let now = now()
        let isFirst = asked.withLock { !$0.contains(band.device) }
        guard isFirst || BandLease.isToBeAsked(known, at: now.wall, trust: now.trust) else { return known }
        guard let answer = await ask(band.device) else { return known ?? .unanswered }
        _ = asked.withLock { $0.insert(band.device) }
        return answer
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
