import BandProfile
import GatewayModel
import HistorySync
import Store
import Systemd
import Uplink

/// Turns open questions into gaps, after the server was asked whether another gateway has the records.
actor QuestionResolver {
    private let store: Store
    private let uploader: Uploader?
    private let log: Log
    private let changed: @Sendable () -> Void
    private let gate = WakeGate()
    private var pace = AnswerPace()
    private var loop: Task<Void, Never>?
    private var isStopping = false
    private var onAckPoint: (@Sendable (DeviceID, RingID, UInt32) async -> Void)?
    /// Rings about which the server was asked already, so that it is asked once.
    private var ringsAsked: Set<RingKey> = []

    private struct RingKey: Hashable {
        var device: DeviceID
        var ring: RingID
    }

    init(store: Store, uploader: Uploader?, log: Log, changed: @escaping @Sendable () -> Void) {
        self.changed = changed
        self.store = store
        self.uploader = uploader
        self.log = log
    }

    func start(onAckPoint: @escaping @Sendable (DeviceID, RingID, UInt32) async -> Void) {
        self.onAckPoint = onAckPoint
        loop = Task { await run() }
    }

    func stop() async {
        isStopping = true
        gate.signal()
        await loop?.value
    }

    nonisolated func wake() { gate.signal() }

    /// A new gateway asks the band from the server's `complete_through` + 1. Ingest API 1, "What the server knows".
    func ringSeen(_ ring: RingID, of device: DeviceID) async {
        guard ringsAsked.insert(RingKey(device: device, ring: ring)).inserted else { return }
        guard case .knows(let state) = await ask(device) else { return }
        await apply(state, to: device)
    }

    /// What the server told at the start of the upload, or now.
    func apply(_ state: ServerDeviceState, to device: DeviceID) async {
        for ring in state.rings {
            do {
                let isBehind = try await store.applyServerState(
                    device, ring: ring.ring, completeThrough: ring.completeThrough,
                    maxVersion: state.maxVersion)
                guard isBehind else { continue }
                log.warning(
                    "the database is older than what the server has: it was restored from an old copy",
                    [("device", .text(device.text)), ("ring", .text(ring.ring.description))])
            } catch {
                log.warning("what the server knows could not be noted", [("error", .error(error))])
            }
        }
    }

    private func ask(_ device: DeviceID) async -> ServerAnswer {
        guard let uploader else { return .noServer }
        return await uploader.ask(device, deadline: .seconds(10))
    }

    private func run() async {
        while !isStopping {
            let round = await answerAll()
            guard !isStopping else { return }
            await gate.wait(atMost: pace.wait(after: round))
        }
    }

    /// What goes wrong with one band's questions keeps no other's open.
    func answerAll() async -> AnswerPace.Round {
        var round = AnswerPace.Round.done
        do {
            for (device, questions) in Dictionary(grouping: try await store.openQuestions(), by: \.device) {
                let answer = await ask(device)
                if answer == .unreachable {
                    if round == .done { round = .unreachable }
                    continue
                }
                do {
                    for question in questions { try await settle(question, answer) }
                } catch {
                    logUnanswered(error, of: device)
                    round = .failed
                }
            }
            return round
        } catch {
            logUnanswered(error, of: nil)
            return .failed
        }
    }

    private func logUnanswered(_ error: any Error, of device: DeviceID?) {
        log.warning(
            "open questions could not be answered",
            [("device", .text(device?.text ?? "all")), ("error", .error(error))])
    }

    private func settle(_ question: OpenQuestion, _ answer: ServerAnswer) async throws {
        var completeThrough: UInt32?
        if case .knows(let state) = answer {
            completeThrough = state.rings.first { $0.ring == question.suspect.ring }?.completeThrough
        }
        let ackThrough = try await store.answer(
            question, with: QuestionJudge.judge(question.suspect, completeThrough: completeThrough))
        log.notice(
            "records that the band no longer has were looked for at the server",
            [
                ("device", .text(question.device.text)), ("first", .count(question.suspect.firstSeq)),
                ("held_through", .count(completeThrough ?? 0)),
                ("cause", .text(question.suspect.cause.rawValue)),
            ])
        await onAckPoint?(question.device, question.suspect.ring, ackThrough)
        changed()
    }
}
