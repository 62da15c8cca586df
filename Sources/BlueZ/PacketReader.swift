import CLinux
import Glibc

/// Takes packets off sequenced-packet sockets, many with one system call. Used by one thread.
final class PacketReader {
    private static let packets = 32
    /// An attribute holds at most 512 bytes. Bluetooth Core 5.4, Vol 3, Part F, 3.2.9.
    private static let size = 1_024

    enum Result: Equatable {
        /// Nothing waits any more.
        case empty
        /// More may wait.
        case more
        case ended
    }

    private let buffer = UnsafeMutableRawPointer.allocate(
        byteCount: packets * size, alignment: MemoryLayout<UInt64>.alignment)
    private let vectors = UnsafeMutablePointer<iovec>.allocate(capacity: packets)
    private let messages = UnsafeMutablePointer<linux_message>.allocate(capacity: packets)

    init() {
        for index in 0..<Self.packets {
            vectors[index] = iovec(iov_base: buffer + index * Self.size, iov_len: Self.size)
            var message = linux_message()
            message.header.msg_iov = vectors + index
            message.header.msg_iovlen = 1
            messages[index] = message
        }
    }

    deinit {
        messages.deallocate()
        vectors.deallocate()
        buffer.deallocate()
    }

    /// Moves what waits in the socket into the mailbox, at most 32 packets. Never waits.
    func read(_ descriptor: Int32, into mailbox: NotificationMailbox) -> Result {
        let received = linux_receive_messages(descriptor, messages, UInt32(Self.packets))
        guard received > 0 else {
            guard received < 0 else { return .ended }
            switch errno {
            case EAGAIN, EINTR: return .empty
            // Said once when the other side closed without reading; packets may still wait behind it.
            case ECONNRESET: return .more
            default: return .ended
            }
        }
        var count = Int(received)
        var ended = false
        // A notification may be empty, and the end of the stream reads as no bytes again and again. At the end
        // the other side is gone and nothing waits.
        if messages[count - 1].length == 0, isAtEnd(descriptor) {
            ended = true
            while count > 0, messages[count - 1].length == 0 { count -= 1 }
        }
        mailbox.append(count: count) { index in
            UnsafeRawBufferPointer(
                start: buffer + index * Self.size, count: min(Int(messages[index].length), Self.size))
        }
        if ended { return .ended }
        return count == Self.packets ? .more : .empty
    }

    private func isAtEnd(_ descriptor: Int32) -> Bool {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        guard poll(&entry, 1, 0) == 1, entry.revents & Int16(POLLHUP | POLLERR) != 0 else { return false }
        return linux_bytes_waiting(descriptor) == 0
    }
}
