import CLinux
import DBus
import Glibc
import Locking
import Threading

/// The one thread that takes notifications off all acquired sockets. It does nothing else: no disk, no D-Bus.
///
/// bluetoothd drops what a full socket does not take (167 to 278 notifications), so this thread must never wait
/// for anything but the sockets.
final class NotificationDrain: Sendable {
    private struct Source {
        var descriptor: Int32
        var mailbox: NotificationMailbox
    }

    private struct State {
        /// By the id that `add` returned. The thread alone closes descriptors.
        var sources: [UInt64: Source] = [:]
        /// Let go of, to be emptied and closed.
        var retired: [Source] = []
        var lastID: UInt64 = 0
        var version = 0
        var isStopped = false
    }

    private let state = Guarded(State())
    private let wakeUp: Int32

    /// Nil when the process has no descriptor or thread left.
    init?() {
        wakeUp = eventfd(0, Int32(EFD_CLOEXEC) | Int32(EFD_NONBLOCK))
        guard wakeUp >= 0 else { return nil }
        let thread = POSIXThread.start {
            linux_name_thread("notify-drain")
            self.run()
        }
        guard let thread else { return nil }
        pthread_detach(thread)
    }

    deinit { close(wakeUp) }

    /// Takes over the descriptor; the mailbox ends when the socket does.
    func add(_ descriptor: Int32, into mailbox: NotificationMailbox) -> UInt64 {
        let id = state.withLock { state -> UInt64 in
            state.lastID += 1
            guard !state.isStopped else { return 0 }
            state.version += 1
            state.sources[state.lastID] = Source(descriptor: descriptor, mailbox: mailbox)
            return state.lastID
        }
        guard id != 0 else {
            // The thread is gone: nobody would read.
            close(descriptor)
            mailbox.end()
            return id
        }
        wake()
        return id
    }

    /// Lets go of a socket, after what waits in it has been taken; its mailbox ends.
    func remove(_ id: UInt64) {
        retire(id)
        wake()
    }

    /// Ends all mailboxes and the thread.
    func stop() {
        state.withLock { $0.isStopped = true }
        wake()
    }

    private func wake() {
        var one: UInt64 = 1
        _ = write(wakeUp, &one, MemoryLayout<UInt64>.size)
    }

    private func retire(_ id: UInt64) {
        state.withLock { state in
            guard let source = state.sources.removeValue(forKey: id) else { return }
            state.retired.append(source)
            state.version += 1
        }
    }

    // MARK: the thread

    private func run() {
        let reader = PacketReader()
        var watched: [UInt64: Source] = [:]
        var order: [UInt64] = []
        var entries = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)]
        var version = 0
        while true {
            let (current, retired, isStopped) = state.withLock {
                state -> ([UInt64: Source]?, [Source], Bool) in
                defer {
                    version = state.version
                    state.retired = []
                }
                return (state.version == version ? nil : state.sources, state.retired, state.isStopped)
            }
            for source in retired { finish(source, with: reader) }
            if let current {
                watched = current
                order = current.keys.sorted()
                entries = [pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)]
                for id in order {
                    guard let source = current[id] else { continue }
                    entries.append(pollfd(fd: source.descriptor, events: Int16(POLLIN), revents: 0))
                }
            }
            if isStopped {
                for source in watched.values { finish(source, with: reader) }
                return
            }
            guard poll(&entries, nfds_t(entries.count), -1) > 0 else { continue }
            if entries[0].revents != 0 {
                var count: UInt64 = 0
                _ = read(wakeUp, &count, MemoryLayout<UInt64>.size)
            }
            for (index, id) in order.enumerated() where entries[index + 1].revents != 0 {
                guard let source = watched[id], drain(source, with: reader) == .ended else { continue }
                retire(id)
            }
        }
    }

    /// Takes what waits in one socket, bounded so that one band can't starve another.
    private func drain(_ source: Source, with reader: PacketReader) -> PacketReader.Result {
        for _ in 0..<8 {
            let result = reader.read(source.descriptor, into: source.mailbox)
            guard result == .more else { return result }
        }
        return .more
    }

    private func finish(_ source: Source, with reader: PacketReader) {
        // More than the socket can hold: the other side may still be sending.
        for _ in 0..<64 {
            guard reader.read(source.descriptor, into: source.mailbox) == .more else { break }
        }
        close(source.descriptor)
        source.mailbox.end()
    }
}
