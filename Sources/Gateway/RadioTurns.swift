/// So many at a time: connection attempts on one controller, or links that it holds. The others wait in the order
/// in which they came; inside BlueZ their deadlines would already run.
actor RadioTurns {
    private var free: Int
    private var waiters: [CheckedContinuation<Void, Never>] = []

    init(limit: Int) { free = max(1, limit) }

    func take() async {
        guard free == 0 else {
            free -= 1
            return
        }
        // Bounded by the number of bands: each keeper waits at most once.
        await withCheckedContinuation { waiters.append($0) }
    }

    func give() {
        if waiters.isEmpty { free += 1 } else { waiters.removeFirst().resume() }
    }
}
