import CDBus
import Dispatch
import Glibc

/// One libdbus watch on dispatch sources. Used only on the connection's queue.
///
/// The sources watch a duplicate of the descriptor: libdbus closes its own at once after it removed the watch,
/// while a source lets go of one only when its cancellation is through.
final class BusWatch {
    private var sources: [any DispatchSourceProtocol] = []
    private var running = false

    init?(_ watch: OpaquePointer, queue: DispatchQueue, handle: @escaping @Sendable (UInt32) -> Void) {
        let flags = dbus_watch_get_flags(watch)
        let descriptor = dbus_watch_get_unix_fd(watch)
        if flags & DBUS_WATCH_READABLE.rawValue != 0 {
            guard let copy = Self.duplicate(descriptor) else { return nil }
            let source = DispatchSource.makeReadSource(fileDescriptor: copy, queue: queue)
            source.setEventHandler { handle(DBUS_WATCH_READABLE.rawValue) }
            source.setCancelHandler { close(copy) }
            sources.append(source)
        }
        if flags & DBUS_WATCH_WRITABLE.rawValue != 0 {
            guard let copy = Self.duplicate(descriptor) else { return nil }
            let source = DispatchSource.makeWriteSource(fileDescriptor: copy, queue: queue)
            source.setEventHandler { handle(DBUS_WATCH_WRITABLE.rawValue) }
            source.setCancelHandler { close(copy) }
            sources.append(source)
        }
        setEnabled(dbus_watch_get_enabled(watch) != 0)
    }

    func setEnabled(_ enabled: Bool) {
        guard enabled != running else { return }
        running = enabled
        for source in sources {
            if enabled { source.resume() } else { source.suspend() }
        }
    }

    func cancel() {
        // A suspended source never runs its cancel handler.
        setEnabled(true)
        for source in sources { source.cancel() }
        sources = []
    }

    private static func duplicate(_ descriptor: Int32) -> Int32? {
        let copy = fcntl(descriptor, F_DUPFD_CLOEXEC, 0)
        return copy >= 0 ? copy : nil
    }
}
