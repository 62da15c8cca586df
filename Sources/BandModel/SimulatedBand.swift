import BandProfile

/// A band that speaks Band History Profile 1 to the byte: calls in, bytes out, no I/O and no clock of its own.
///
/// Encoding it keeps what a band keeps in flash; a decoded one starts without a link. The fault script acts on what
/// it sends, on its ring and on the acks that reach it. One link at a time.
public struct SimulatedBand: Sendable, Codable {
    private enum CodingKeys: String, CodingKey {
        case state
    }

    var state: BandState
    public private(set) var isLinked = false
    public private(set) var notificationsEnabled = false
    public private(set) var mtu = 23
    /// Rises whenever something happened that the band must not forget, acks and sends aside.
    public private(set) var revision = 0
    var stream: HistoryStream?
    /// Ready to send, in order: what the window no longer counts and what faults put aside.
    var queued: [[UInt8]] = []
    /// Fault "reorder": sent after the next one.
    var held: [UInt8]?
    /// Fault "late END": sent within the next stream of this link.
    var lateEnd: [UInt8]?

    /// A band with its history already measured, the newest record close to `now` (true time, milliseconds).
    public init(_ options: SimulatedBandOptions, now: Int64) {
        state = BandState(options: options, now: now)
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        state = try container.decode(BandState.self, forKey: .state)
        // A file may come from anywhere: what does not fit together would only fail later and elsewhere.
        if let problem = state.inconsistency {
            throw DecodingError.dataCorruptedError(forKey: .state, in: container, debugDescription: problem)
        }
    }

    public var options: SimulatedBandOptions { state.options }
    public var ring: RingID { RingID(rawValue: state.ring.id) }

    // MARK: what a gateway reads

    public func info() -> RingInfo {
        RingInfo(
            liveHeartRate: options.liveHeartRate, firmwareUpdate: options.firmwareUpdate,
            clockID: state.clock.id, formatCount: state.ring.formatCount, window: options.window, ring: ring,
            oldestSeq: state.ring.oldest, newestSeq: state.ring.newest,
            capacity: UInt32(clamping: options.capacity))
    }

    public func clock(now: Int64) -> BandClock {
        BandClock(
            timeMilliseconds: state.clock.bandTime(at: now), clockID: state.clock.id,
            secondsSinceBoot: UInt32(clamping: (now - state.clock.bootedAt) / 1000))
    }

    // MARK: the link

    public mutating func linkUp(mtu: Int) {
        linkDown()
        isLinked = true
        self.mtu = mtu
    }

    /// The link's MTU was exchanged after it came up.
    public mutating func setMTU(_ mtu: Int) {
        self.mtu = mtu
    }

    /// A stream ends without END, and notifications have to be enabled again.
    public mutating func linkDown() {
        isLinked = false
        mtu = 23
        enableNotifications(false)
    }

    public mutating func enableNotifications(_ enabled: Bool) {
        notificationsEnabled = enabled && isLinked
        guard !enabled else { return }
        stream = nil
        queued = []
        held = nil
        lateEnd = nil
    }

    // MARK: what a gateway writes

    /// Nil = the write succeeds.
    public mutating func writeControlPoint(_ bytes: [UInt8]) -> ControlPointError? {
        let command: ControlPointCommand
        do { command = try ControlPointCommand(decoding: bytes) } catch { return error }
        switch command {
        case .sendFrom(let seq):
            guard notificationsEnabled else { return .notificationsNotEnabled }
            guard stream == nil else { return .busy }
            stream = HistoryStream(from: max(seq, state.ring.oldest))
        case .abort:
            guard let aborted = stream else { return nil }
            stream = nil
            if let held { queued.append(held) }
            held = nil
            finish(aborted, status: .aborted)
        }
        return nil
    }

    /// Every record at or below the ack is freed. An ack above the last seq ever sent from this ring is ignored.
    @discardableResult
    public mutating func ack(_ bytes: [UInt8]) -> AckOutcome {
        state.counters.acks += 1
        if options.faults.strikes(.lostAck, count: state.counters.acks, seed: options.seed) != nil {
            return .lost
        }
        guard let seq = Ack.decode(bytes) else { return .malformed }
        guard seq <= state.ring.everSent else { return .ignored }
        stream?.acked(seq)
        guard seq >= state.ring.oldest else { return .honoured(freed: 0) }
        let freed = seq - state.ring.oldest + 1
        state.ring.oldest = seq + 1
        return .honoured(freed: Int(freed))
    }

    // MARK: what happens to the band

    /// Lets time pass, for faults that measure records or step the clock.
    public mutating func advance(to now: Int64) {
        state.now = max(state.now, now)
    }

    /// Measures `count` records, the last close to `now`.
    public mutating func record(_ count: Int, now: Int64) {
        advance(to: now)
        state.append(count, until: now)
        revision += 1
    }

    /// A new, empty ring. "A band drops every link before it formats its ring."
    public mutating func format() {
        linkDown()
        state.format()
        revision += 1
    }

    /// The `count` oldest records that are not sent yet give way, as if newer ones had needed their room.
    public mutating func overwrite(_ count: Int) {
        let start = max(state.ring.oldest, stream?.next ?? 0)
        state.raiseOldest(to: UInt32(clamping: Int(start) + max(0, min(count, Int(UInt32.max)))))
        revision += 1
    }

    /// Forgets every record above `seq` under the same ring id, as after a crash; the next ones differ.
    public mutating func rollBack(to seq: UInt32) {
        linkDown()
        state.rollBack(to: seq)
        revision += 1
    }

    /// The stream sends nothing more until ABORT ends it.
    public mutating func stall() {
        stream?.stalled = true
    }

    /// From now on other things go wrong; counters go on.
    public mutating func setFaults(_ faults: FaultScript) {
        state.options.faults = faults
    }

    /// Moves the band's clock by so much; its clock id rises.
    public mutating func stepClock(by milliseconds: Int64, now: Int64) {
        advance(to: now)
        state.stepClock(by: milliseconds, now: now)
        revision += 1
    }
}
