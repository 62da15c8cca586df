import DBus
import Glibc
import Locking
import Testing

@testable import BlueZ

/// A pair of sequenced-packet sockets, as bluetoothd makes for AcquireNotify.
private func pair() -> (ours: Int32, theirs: Int32) {
    var ends: [Int32] = [0, 0]
    // Close-on-exec: other tests start programs meanwhile.
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_CLOEXEC.rawValue)
    #expect(socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (ends[0], ends[1])
}

private func send(_ bytes: [UInt8], _ socket: Int32) {
    #expect(Glibc.send(socket, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count)
}

@Suite(.timeLimit(.minutes(1))) struct NotificationTests {
    @Test func aRunGivesBackWhatWentIn() {
        let notifications: [[UInt8]] = [[1, 2, 3], [], [4], [5, 6]]
        for wanted in 0...5 {
            var run = NotificationRun(notifications)
            let first = run.takeFirst(wanted)
            #expect(first.notifications == Array(notifications.prefix(wanted)))
            #expect(run.notifications == Array(notifications.dropFirst(wanted)))
            #expect(run.bytes.count == run.notifications.joined().count)
        }
    }

    @Test func theWakerIsCalledOnceUntilTheMailboxIsEmpty() {
        let wakes = Counter()
        let mailbox = NotificationMailbox()
        mailbox.setWaker { wakes.add() }
        for byte in 0..<5 { [UInt8(byte)].withUnsafeBytes { mailbox.append($0) } }
        #expect(wakes.count == 1)
        #expect(mailbox.take(max: 2).run.notifications == [[0], [1]])
        [UInt8(9)].withUnsafeBytes { mailbox.append($0) }
        #expect(wakes.count == 1)
        #expect(mailbox.take(max: 100).run.count == 4)
        [UInt8(7)].withUnsafeBytes { mailbox.append($0) }
        #expect(wakes.count == 2)
        mailbox.end()
        mailbox.end()
        #expect(wakes.count == 3)
        let contents = mailbox.take(max: 100)
        #expect(contents.run.count == 1 && contents.ended)
    }

    @Test func aWakerThatComesLateIsCalledAtOnce() {
        let wakes = Counter()
        let mailbox = NotificationMailbox()
        [UInt8(1)].withUnsafeBytes { mailbox.append($0) }
        mailbox.setWaker { wakes.add() }
        #expect(wakes.count == 1)
    }

    @Test func aFullMailboxDropsTheNewestAndCounts() {
        let mailbox = NotificationMailbox(capacity: 3)
        for byte in 0..<5 { [UInt8(byte)].withUnsafeBytes { mailbox.append($0) } }
        var contents = mailbox.take(max: 2)
        #expect(contents.run.notifications == [[0], [1]] && contents.dropped == 2)
        [UInt8(9)].withUnsafeBytes { mailbox.append($0) }
        contents = mailbox.take(max: 9)
        #expect(contents.run.notifications == [[2], [9]] && contents.dropped == 0)
    }

    @Test func theDrainTakesEverythingInOrderAndSeesTheEnd() async throws {
        let drain = try #require(NotificationDrain())
        let mailbox = NotificationMailbox(capacity: 100_000)
        let (ours, theirs) = pair()
        _ = drain.add(ours, into: mailbox)
        let sender = Thread.start {
            for index in 0..<20_000 {
                let bytes: [UInt8] = [
                    UInt8(truncatingIfNeeded: index), UInt8(truncatingIfNeeded: index >> 8), 7,
                ]
                // A blocking socket: nothing is dropped here.
                _ = Glibc.send(theirs, bytes, 3, Int32(MSG_NOSIGNAL))
            }
            close(theirs)
        }
        var next = 0
        while true {
            let contents = mailbox.take(max: 1_000)
            for bytes in contents.run.notifications {
                #expect(Int(bytes[0]) | Int(bytes[1]) << 8 == next % 65_536 && bytes.count == 3)
                next += 1
            }
            if contents.ended { break }
            if contents.run.isEmpty { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(next == 20_000)
        sender.join()
        drain.stop()
    }

    @Test func anEmptyNotificationIsNotTheEnd() async throws {
        let drain = try #require(NotificationDrain())
        let mailbox = NotificationMailbox()
        let (ours, theirs) = pair()
        _ = drain.add(ours, into: mailbox)
        send([], theirs)
        send([1], theirs)
        send([], theirs)
        while mailbox.count < 3 { try await Task.sleep(for: .milliseconds(1)) }
        let contents = mailbox.take(max: 10)
        #expect(contents.run.notifications == [[], [1], []] && !contents.ended)
        // What waits before the end is taken, an empty one in the middle too.
        send([2], theirs)
        send([], theirs)
        send([3], theirs)
        close(theirs)
        var rest: [[UInt8]] = []
        while true {
            let contents = mailbox.take(max: 10)
            rest += contents.run.notifications
            if contents.ended { break }
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(rest == [[2], [], [3]])
        drain.stop()
    }

    @Test func removingASocketTakesWhatWaitsAndClosesIt() async throws {
        let drain = try #require(NotificationDrain())
        let mailbox = NotificationMailbox()
        let (ours, theirs) = pair()
        let id = drain.add(ours, into: mailbox)
        for byte in 0..<100 { send([UInt8(byte)], theirs) }
        drain.remove(id)
        var count = 0
        while true {
            let contents = mailbox.take(max: 1_000)
            count += contents.run.count
            if contents.ended { break }
            try await Task.sleep(for: .milliseconds(1))
        }
        #expect(count == 100)
        // A process that another test starts at this moment has a copy of it for as long as it takes to become another program.
        var isOpen = true
        for _ in 0..<4_000 where isOpen {
            isOpen = Glibc.send(theirs, [1], 1, Int32(MSG_NOSIGNAL)) != -1
            if isOpen { try await Task.sleep(for: .milliseconds(1)) }
        }
        #expect(!isOpen)
        close(theirs)
        drain.stop()
    }

    @Test func manySocketsShareOneThread() async throws {
        let drain = try #require(NotificationDrain())
        let pairs = (0..<20).map { _ in pair() }
        let mailboxes = pairs.map { _ in NotificationMailbox() }
        for (pair, mailbox) in zip(pairs, mailboxes) { _ = drain.add(pair.ours, into: mailbox) }
        for round in 0..<50 { for pair in pairs { send([UInt8(round)], pair.theirs) } }
        for mailbox in mailboxes {
            while mailbox.count < 50 { try await Task.sleep(for: .milliseconds(1)) }
            #expect(mailbox.take(max: 100).run.notifications == (0..<50).map { [UInt8($0)] })
        }
        drain.stop()
        for (pair, mailbox) in zip(pairs, mailboxes) {
            while !mailbox.take(max: 1).ended { try await Task.sleep(for: .milliseconds(1)) }
            close(pair.theirs)
        }
    }
}

final class Counter: Sendable {
    private let value = Guarded(0)
    func add() { value.withLock { $0 += 1 } }
    var count: Int { value.withLock { $0 } }
}

/// A thread that may block, unlike Swift's own.
struct Thread {
    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }
    private let thread: pthread_t

    static func start(_ body: @escaping () -> Void) -> Thread {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { argument in
                if let argument { Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body() }
                return nil
            }, Unmanaged.passRetained(Work(body)).toOpaque())
        return Thread(thread: thread)
    }

    func join() { pthread_join(thread, nil) }
}
