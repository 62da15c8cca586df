import Dispatch
import Doctor
import Locking

/// What a probe found, put where the doctor reads it.
public typealias FactUpdate = @Sendable (inout DoctorFacts) -> Void

/// Looks at one thing. It changes nothing, and gives up within its deadline.
public protocol DoctorProbe: Sendable {
    var check: DoctorCheck { get }
    var deadline: Duration { get }
    /// Throws when this user may not look; whatever else is wrong is a fact.
    func gather() async throws(ProbeRefusal) -> FactUpdate
}

/// This user may not look; in the system's words.
public struct ProbeRefusal: Error, Equatable, Sendable {
    public var reason: String

    public init(_ reason: String) { self.reason = reason }
}

/// Runs probes beside one another. One that hangs is left behind and named.
public enum Examination {
    public static func run(_ probes: [any DoctorProbe], on facts: DoctorFacts) async -> DoctorFacts {
        var facts = facts
        await withTaskGroup(of: FactUpdate.self) { group in
            for probe in probes { group.addTask { await outcome(of: probe) } }
            for await update in group { update(&facts) }
        }
        return facts
    }

    private static func outcome(of probe: any DoctorProbe) async -> FactUpdate {
        let first = FirstAnswer()
        let work = Task {
            do throws(ProbeRefusal) {
                let update = try await probe.gather()
                first.give { facts in
                    update(&facts)
                    facts.done.append(probe.check)
                }
            } catch {
                first.give { $0.notPermitted[probe.check] = error.reason }
            }
        }
        let timer = Task {
            try? await Task.sleep(for: probe.deadline)
            first.give { $0.unfinished[probe.check] = probe.deadline }
        }
        let update = await first.value()
        work.cancel()
        timer.cancel()
        return update
    }
}

/// The first of several answers; later ones are dropped.
private final class FirstAnswer: Sendable {
    private enum State {
        case empty
        case awaited(CheckedContinuation<FactUpdate, Never>)
        case given(FactUpdate)
        case taken
    }

    private let state = Guarded(State.empty)

    func give(_ answer: @escaping FactUpdate) {
        let waiting: CheckedContinuation<FactUpdate, Never>? = state.withLock { state in
            switch state {
            case .empty: state = .given(answer)
            case .awaited(let continuation):
                state = .taken
                return continuation
            case .given, .taken: break
            }
            return nil
        }
        waiting?.resume(returning: answer)
    }

    func value() async -> FactUpdate {
        await withCheckedContinuation { continuation in
            let given: FactUpdate? = state.withLock { state in
                guard case .given(let answer) = state else {
                    state = .awaited(continuation)
                    return nil
                }
                state = .taken
                return answer
            }
            if let given { continuation.resume(returning: given) }
        }
    }
}

/// Blocking work on a thread that Swift's shared pool does not miss.
func blocking<Value: Sendable>(_ body: @escaping @Sendable () -> Value) async -> Value {
    await withCheckedContinuation { continuation in
        DispatchQueue(label: "bandferry.doctor").async { continuation.resume(returning: body()) }
    }
}
