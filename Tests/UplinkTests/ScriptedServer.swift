import Foundation
import HTTPClient

/// An HTTP server on loopback whose every answer, well-formed or not, is the test's. A thread a connection.
final class ScriptedServer: Sendable {
    enum Reply: Sendable {
        case proper(HTTPResponse)
        /// Sent as it is; then the connection is closed.
        case bytes(String)
        /// Nothing is ever sent; the connection stays open.
        case hang
        /// Closed without a byte.
        case hangUp
        /// One byte after the other, so long after each other.
        case trickle(String, pause: TimeInterval)
    }

    typealias Script = @Sendable (HTTPRequest) -> Reply

    let port: UInt16
    private let family: Int32
    private let listener: Int32
    private let script: Script
    private let open = Locked<Set<Int32>>([])
    private let seen = Locked<[HTTPRequest]>([])
    private let isStopped = Locked(false)
    private let ended = DispatchSemaphore(value: 0)

    var url: String { family == AF_INET6 ? "http://[::1]:\(port)" : "http://127.0.0.1:\(port)" }
    var requests: [HTTPRequest] { seen.value }

    /// - Parameters:
    ///   - port: 0 = any.
    ///   - family: AF_INET = 127.0.0.1 alone, AF_INET6 = ::1 alone.
    init(port: UInt16 = 0, family: Int32 = AF_INET, _ script: @escaping Script) throws {
        self.script = script
        self.family = family
        (listener, self.port) = try Loopback.listen(port: port, family: family)
        let listener = listener
        Thread.detachNewThread { [self] in
            while !isStopped.value {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                _ = open.change { $0.insert(connection) }
                Thread.detachNewThread { self.serve(connection) }
            }
            ended.signal()
        }
    }

    /// Drops every connection, as a killed server does.
    ///
    /// A descriptor is closed only where nobody can use it any more: its number may be another test's at once.
    func stop() {
        let wasStopped = isStopped.change { isStopped in
            defer { isStopped = true }
            return isStopped
        }
        guard !wasStopped else { return }
        shutdown(listener, Int32(SHUT_RDWR))
        ended.wait()
        close(listener)
        open.change { for connection in $0 { shutdown(connection, Int32(SHUT_RDWR)) } }
    }

    private func serve(_ connection: Int32) {
        defer {
            open.change {
                $0.remove(connection)
                close(connection)
            }
        }
        var buffer: [UInt8] = []
        while let request = read(connection, &buffer) {
            seen.change { $0.append(request) }
            switch script(request) {
            case .proper(let response):
                let head =
                    "HTTP/1.1 \(response.status) X\r\nContent-Length: \(response.body.count)\r\n"
                    + response.headers.map { "\($0.name): \($0.value)\r\n" }.joined() + "\r\n"
                guard write(Array(head.utf8) + response.body, to: connection) else { return }
            case .bytes(let text):
                _ = write(Array(text.utf8), to: connection)
                return
            case .trickle(let text, let pause):
                for byte in text.utf8 {
                    guard !isStopped.value, write([byte], to: connection) else { return }
                    Thread.sleep(forTimeInterval: pause)
                }
                return
            case .hang:
                var byte: UInt8 = 0
                while recv(connection, &byte, 1, 0) > 0 {}
                return
            case .hangUp:
                return
            }
        }
    }

    private func write(_ bytes: [UInt8], to connection: Int32) -> Bool {
        Loopback.send(bytes, to: connection)
    }

    /// One request with its body; nil at the end of the connection.
    private func read(_ connection: Int32, _ buffer: inout [UInt8]) -> HTTPRequest? {
        func more() -> Bool {
            var part = [UInt8](repeating: 0, count: 65_536)
            let count = recv(connection, &part, part.count, 0)
            guard count > 0 else { return false }
            buffer += part[..<count]
            return true
        }
        let blank = Array("\r\n\r\n".utf8)
        var end = buffer.firstRange(of: blank)
        while end == nil {
            guard more() else { return nil }
            end = buffer.firstRange(of: blank)
        }
        guard let end else { return nil }
        let lines = String(decoding: buffer[..<end.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ").map(String.init)
        let headers = lines.dropFirst().compactMap { line -> HTTPHeader? in
            line.firstIndex(of: ":").map {
                HTTPHeader(
                    String(line[..<$0]), line[line.index(after: $0)...].trimmingCharacters(in: .whitespaces))
            }
        }
        let length = headers.first { $0.name.lowercased() == "content-length" }.flatMap { Int($0.value) } ?? 0
        buffer.removeFirst(end.upperBound)
        while buffer.count < length { guard more() else { return nil } }
        let body = Array(buffer.prefix(length))
        buffer.removeFirst(length)
        guard words.count == 3, let method = HTTPRequest.Method(rawValue: words[0]) else { return nil }
        return HTTPRequest(method, url + words[1], headers: headers, body: body)
    }
}
