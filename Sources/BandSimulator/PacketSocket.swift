import CLinux
import Dispatch
import Glibc

/// Our end of an acquired socket: packets that a full socket drops, silently, as bluetoothd does.
///
/// BlueZ: socketpair(AF_UNIX, SOCK_SEQPACKET), non-blocking sends, EAGAIN only logged.
final class PacketSocket {
    private let descriptor: Int32
    private var source: (any DispatchSourceRead)?
    private(set) var sent: UInt64 = 0
    private(set) var dropped: UInt64 = 0

    /// Makes a pair; the other end is for the client. Nil when there are no descriptors left.
    ///
    /// `received` gets each packet that the client sends; `closed` is called once, when the client lets go.
    static func pair(
        sendBuffer: Int, queue: DispatchQueue, received: @escaping @Sendable ([UInt8]) -> Void,
        closed: @escaping @Sendable () -> Void
    ) -> (ours: PacketSocket, theirs: Int32)? {
        var pair: [Int32] = [-1, -1]
        let type = Int32(SOCK_SEQPACKET.rawValue) | O_NONBLOCK | O_CLOEXEC
        guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { return nil }
        // The kernel doubles what it is given.
        var half = Int32(clamping: sendBuffer / 2)
        setsockopt(pair[0], SOL_SOCKET, SO_SNDBUF, &half, socklen_t(MemoryLayout<Int32>.size))
        return (PacketSocket(pair[0], queue: queue, received: received, closed: closed), pair[1])
    }

    private init(
        _ descriptor: Int32, queue: DispatchQueue, received: @escaping @Sendable ([UInt8]) -> Void,
        closed: @escaping @Sendable () -> Void
    ) {
        self.descriptor = descriptor
        let source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: queue)
        source.setEventHandler { @Sendable in
            // One packet an event is enough: the source is level-triggered.
            var buffer = [UInt8](repeating: 0, count: 512)
            let count = recv(descriptor, &buffer, buffer.count, Int32(MSG_DONTWAIT))
            if count > 0 {
                received(Array(buffer[..<count]))
            } else if count == 0 || (errno != EAGAIN && errno != EINTR) {
                closed()
            }
        }
        source.setCancelHandler { @Sendable in close(descriptor) }
        source.resume()
        self.source = source
    }

    deinit { shut() }

    func send(_ bytes: [UInt8]) {
        if trySend(bytes) { sent += 1 } else { dropped += 1 }
    }

    /// False when the socket is full: the packet may be sent again later.
    func trySend(_ bytes: [UInt8]) -> Bool {
        let flags = Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL)
        return bytes.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, flags) } >= 0
    }

    /// The client reads the end at once, behind what it has not read yet.
    func shut() {
        guard let source else { return }
        self.source = nil
        shutdown(descriptor, Int32(SHUT_RDWR))
        source.cancel()
    }
}
