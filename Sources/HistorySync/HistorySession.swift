import BandProfile
import GatewayModel

/// One connection's sync of a band's stored history: events in, actions out, no I/O.
///
/// Order on connect: Info, what the store knows, Clock, subscribe, the last ack again, SEND FROM the first seq
/// that is not durable. At most one action is under way at a time, a commit included, so that a chunk is the run
/// of whole notifications that waited while the committer was busy. Band History Profile 1, "Streams" and "What
/// the gateway owes the band".
public struct HistorySession: Sendable {
    enum State: Equatable {
        case idle
        case readingInfo(InfoPurpose)
        case loadingProgress
        case rewinding(BeforeStream)
        case readingClock(AfterClock)
        case subscribing
        case opening
        case streaming
        case committing
        case recordingTry
        case aborting(AfterClose)
        case awaitingEnd(AfterClose, until: MonotonicTime)
        case finished
    }

    /// Why Info is read; decides what follows.
    enum InfoPurpose: Equatable {
        case start
        /// Before SEND FROM on a link whose ring may have changed since.
        case reopen
        /// After the stream began: what a hole means.
        case evidence
        /// After a complete END: is there more by now?
        case afterEnd
    }

    enum BeforeStream: Equatable { case clock, open }
    enum AfterClock: Equatable { case subscribe, resume }

    enum AfterClose: Equatable {
        case reopen
        case readInfo
        case finish(SessionEnd)
    }

    /// Whether this gateway may ack now.
    var mode: BandMode
    let rules: SessionRules
    var state = State.idle
    var isLinkUp = true
    var isTakenOver = false
    var stopRequested = false

    // What is known of the ring.
    var info: RingInfo?
    /// Info as read after the current stream began; nil until it was needed.
    var evidence: RingInfo?
    /// The hole for which `evidence` was read last.
    var evidenceFor: UInt32?
    var predecessors: [RingProgress.Predecessor] = []
    var clock: ClockReading?
    var clocksTried: Set<UInt16> = []

    /// First seq that is neither in a commit nor bridged.
    var expected: UInt32 = 1
    /// The last seq that the store has, as a record, a gap or a question. No ack goes beyond it.
    var durableThrough: UInt32 = 0
    /// Acks may go up to here.
    var ackPoint: UInt32 = 0
    var lastAcked: UInt32 = 0

    // The stream.
    var run: [[UInt8]] = []
    var runIndex = 0
    var bridge = Bridge()
    /// The tries at this seq are used up: bridge it instead of asking again.
    var givenUpAt: UInt32?
    var holeView: HoleView?
    /// Bytes that could not be read were kept for the hole at this seq.
    var unreadableAt: UInt32?
    /// Where to look for readable records when unreadable ones fill the window; above `givenUpAt`.
    var probe: UInt32?
    /// Sample notifications of this stream since the last ack that covered them all.
    var outstanding = 0
    var lastActivity = MonotonicTime(milliseconds: 0)
    var silenceWasAnswered = false

    // Patience.
    var stalls = 0
    var busyRefusals = 0
    var lostSubscriptions = 0
    var internalErrors = 0
    /// Streams in a row that brought nothing.
    var emptyStreams = 0

    /// Told with the next actions.
    var notes: [SessionNote] = []

    /// Counts for the log and the status; no values.
    public internal(set) var summary = SessionSummary()

    /// What goes into the next chunk beside records: how a hole before them was bridged.
    struct Bridge: Equatable {
        var gaps: [Gap] = []
        var questions: [SuspectedGap] = []
        var raw: [RawNotification] = []

        var isEmpty: Bool { gaps.isEmpty && questions.isEmpty && raw.isEmpty }
    }

    public init(mode: BandMode, rules: SessionRules = SessionRules()) {
        self.mode = mode
        self.rules = rules
    }

    /// True while notifications are to be handed over; at other times they wait in the mailbox.
    public var wantsNotifications: Bool {
        switch state {
        case .streaming, .awaitingEnd: true
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .opening,
            .committing,
            .recordingTry, .aborting, .finished:
            false
        }
    }

    /// When `deadlinePassed` is due if nothing happens before.
    public var deadline: MonotonicTime? {
        switch state {
        case .streaming:
            lastActivity + rules.silenceMilliseconds * (silenceWasAnswered ? 2 : 1)
        case .awaitingEnd(_, let until):
            until
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .opening,
            .committing,
            .recordingTry, .aborting, .finished:
            nil
        }
    }

    public var isFinished: Bool { state == .finished }

    /// The ring, the first seq not yet read, and the newest that the band was seen to hold.
    public var position: (ring: RingID, nextSeq: UInt32, newestSeq: UInt32)? {
        info.map { ($0.ring, expected, max($0.newestSeq, evidence?.newestSeq ?? 0)) }
    }

    public mutating func handle(_ event: SessionEvent, at now: MonotonicTime) -> [SessionAction] {
        guard !isFinished else { return [] }
        let asked = step(event, now)
        var actions = notes.map(SessionAction.note) + asked
        notes = []
        guard !isLinkUp else { return actions }
        // Without a link only the store can still answer.
        actions.removeAll(where: \.needsLink)
        switch state {
        case .committing, .recordingTry, .loadingProgress, .rewinding, .finished:
            return actions
        case .idle, .readingInfo, .readingClock, .subscribing, .opening, .streaming, .aborting, .awaitingEnd:
            return actions + finish(.linkLost)
        }
    }

    private mutating func step(_ event: SessionEvent, _ now: MonotonicTime) -> [SessionAction] {
        switch event {
        case .started(let takenOver):
            isTakenOver = takenOver
            return readInfo(.start)
        case .infoRead(let bytes):
            return infoRead(bytes, now)
        case .progressLoaded(let progress):
            return progressLoaded(progress)
        case .rewound:
            return rewound()
        case .clockRead(let reading):
            return clockRead(reading, now)
        case .subscribed:
            return subscribed()
        case .controlPointAnswered(let error):
            return controlPointAnswered(error, now)
        case .notifications(let notifications):
            return received(notifications, now)
        case .committed(let outcome):
            return committed(outcome, now)
        case .tryRecorded(let attempts):
            return tryRecorded(attempts, now)
        case .ackPointRaised(let seq):
            return ackPointRaised(to: seq)
        case .modeChanged(let mode):
            return modeChanged(to: mode)
        case .deadlinePassed:
            return deadlinePassed(now)
        case .linkLost:
            isLinkUp = false
            return []
        case .stopRequested:
            return stop()
        case .failed(let failure):
            return finish(.failed(failure))
        }
    }

    // MARK: endings

    mutating func finish(_ end: SessionEnd) -> [SessionAction] {
        state = .finished
        return [.finish(end)]
    }

    private mutating func stop() -> [SessionAction] {
        stopRequested = true
        switch state {
        case .streaming:
            return close(then: .finish(.stopped))
        case .committing, .recordingTry, .opening:
            return []  // Ends when the store or the band has answered, so that nothing is half done.
        case .aborting, .awaitingEnd:
            return finish(.stopped)
        case .idle, .readingInfo, .loadingProgress, .rewinding, .readingClock, .subscribing, .finished:
            return finish(.stopped)
        }
    }
}

extension SessionAction {
    var needsLink: Bool {
        switch self {
        case .readInfo, .readClock, .subscribe, .write, .ack: true
        case .loadProgress, .commit, .recordTry, .rewind, .note, .finish: false
        }
    }
}

/// What a session did, in counts.
public struct SessionSummary: Equatable, Sendable {
    public var notifications = 0
    public var chunks = 0
    public var stored = 0
    public var duplicates = 0
    public var conflicts = 0
    public var keptRaw = 0
    public var streams = 0
    public var acks = 0

    public init() {}
}
