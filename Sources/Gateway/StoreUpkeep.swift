import GatewayModel
import Store
import Systemd

/// Lets go of old samples, now and then and slowly.
struct StoreUpkeep: Sendable {
    let store: Store
    let log: Log

    /// After the start, when there is more to do; then between two looks.
    private static let firstPause: Duration = .seconds(60)
    private static let pause: Duration = .seconds(3_600)
    /// Between two slices: commits come in between, and the card has time.
    private static let breath: Duration = .milliseconds(200)

    /// Runs until it is cancelled.
    func run() async {
        try? await Task.sleep(for: Self.firstPause)
        while !Task.isCancelled {
            await pruneAll()
            try? await Task.sleep(for: Self.pause)
        }
    }

    private func pruneAll() async {
        var count = 0
        do {
            while !Task.isCancelled, let gone = try await store.prune() {
                count += gone
                if gone > 0 { try? await Task.sleep(for: Self.breath) }
            }
        } catch {
            // It is tried again at the next look; what is wrong with the store is told by who needs it.
            log.debug("old samples could not be let go", [("error", .error(error))])
        }
        guard count > 0 else { return }
        log.info("samples that the server has were let go for their age", [("samples", .count(count))])
    }
}
