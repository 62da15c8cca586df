/// One connection attempt at a time: a controller creates one connection at a time anyway, and the others would
/// only wait inside BlueZ where their deadlines already run.
actor RadioTurn {
    private var isTaken = false
    private var waiters: [CheckedContinuation<Void, Never>] = []

    func take() async {
        guard isTaken else {
            isTaken = true
            return
        }
        // Bounded by the number of bands: each keeper waits at most once.
        await withCheckedContinuation { waiters.append($0) }
    }

    func give() {
        if waiters.isEmpty { isTaken = false } else { waiters.removeFirst().resume() }
    }
}
