import Foundation
import HTTPClient

/// A real proxy on loopback: CONNECT of HTTP, and SOCKS 5 with names. It reaches what the test says, and nothing else.
final class ScriptedProxy: Sendable {
    enum Kind: Sendable {
        /// `credentials` = what `Proxy-Authorization: Basic` has to carry, as `user:password`.
        case http(credentials: String?)
        case socks(credentials: String?)
        /// Answers every CONNECT with this.
        case answers(String)
    }

    let port: UInt16
    private let listener: Int32
    private let kind: Locked<Kind>
    /// `name:port` and where that is on this machine.
    private let targets: [String: UInt16]
    private let asked = Locked<[String]>([])
    private let bytes = Locked<[UInt8]>([])
    private let isStopped = Locked(false)
    private let ended = DispatchSemaphore(value: 0)

    /// Targets that were asked for, refused ones included.
    var requests: [String] { asked.value }
    /// All that clients sent to it and through it.
    var seen: String { String(decoding: bytes.value, as: UTF8.self) }

    func set(_ kind: Kind) { self.kind.change { $0 = kind } }

    init(_ kind: Kind, targets: [String: UInt16] = [:]) throws {
        self.kind = Locked(kind)
        self.targets = targets
        (listener, port) = try Loopback.listen()
        let listener = listener
        Thread.detachNewThread { [self] in
            while !isStopped.value {
                let connection = accept(listener, nil, nil)
                guard connection >= 0 else { break }
                Thread.detachNewThread {
                    self.serve(connection)
                    close(connection)
                }
            }
            ended.signal()
        }
    }

    func stop() {
        isStopped.change { $0 = true }
        shutdown(listener, Int32(SHUT_RDWR))
        ended.wait()
        close(listener)
    }

    private func serve(_ connection: Int32) {
        switch kind.value {
        case .http(let credentials): serveConnect(connection, credentials: credentials)
        case .socks(let credentials): serveSocks(connection, credentials: credentials)
        case .answers(let text):
            guard let head = readHead(connection) else { return }
            asked.change { $0.append(head.target) }
            _ = Loopback.send(Array(text.utf8), to: connection)
            shutdown(connection, Int32(SHUT_WR))
            var byte: UInt8 = 0
            while recv(connection, &byte, 1, 0) > 0 {}
        }
    }

    // MARK: HTTP, RFC 9110, section 9.3.6

    private func serveConnect(_ connection: Int32, credentials: String?) {
        while let head = readHead(connection) {
            asked.change { $0.append(head.target) }
            let expected = credentials.map { "Basic \(Data($0.utf8).base64EncodedString())" }
            guard expected == nil || head.authorization == expected else {
                let refusal =
                    "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic realm=\"test\"\r\n"
                    + "Content-Type: text/html\r\nContent-Length: 13\r\n\r\n<html>no</>\r\n"
                guard Loopback.send(Array(refusal.utf8), to: connection) else { return }
                continue
            }
            guard let server = reach(head.target) else {
                _ = Loopback.send(
                    Array("HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n".utf8), to: connection)
                return
            }
            guard Loopback.send(Array("HTTP/1.1 200 Connection established\r\n\r\n".utf8), to: connection)
            else { return }
            return splice(connection, server)
        }
    }

    private func readHead(_ connection: Int32) -> (target: String, authorization: String?)? {
        var head: [UInt8] = []
        var byte: UInt8 = 0
        while !head.suffix(4).elementsEqual(Array("\r\n\r\n".utf8)) {
            guard head.count < 10_000, recv(connection, &byte, 1, 0) == 1 else { return nil }
            head.append(byte)
        }
        let received = head
        bytes.change { $0 += received }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count == 3, words[0] == "CONNECT" else { return nil }
        let name = "proxy-authorization: "
        let authorization = lines.first { $0.lowercased().hasPrefix(name) }.map {
            String($0.dropFirst(name.count))
        }
        return (String(words[1]), authorization)
    }

    // MARK: SOCKS 5, RFC 1928 and RFC 1929

    private func serveSocks(_ connection: Int32, credentials: String?) {
        guard let greeting = read(connection, 2), greeting[0] == 5,
            let methods = read(connection, Int(greeting[1]))
        else { return }
        let method: UInt8 = credentials == nil ? 0 : 2
        guard methods.contains(method), Loopback.send([5, method], to: connection) else {
            _ = Loopback.send([5, 0xff], to: connection)
            return
        }
        if let credentials {
            guard let version = read(connection, 2), let user = read(connection, Int(version[1])),
                let length = read(connection, 1), let password = read(connection, Int(length[0]))
            else { return }
            let given = String(decoding: user + [UInt8(ascii: ":")] + password, as: UTF8.self)
            guard given == credentials else {
                _ = Loopback.send([1, 1], to: connection)
                return
            }
            guard Loopback.send([1, 0], to: connection) else { return }
        }
        // A name, type 3: an address would mean that it was looked up here.
        guard let head = read(connection, 5), head[1] == 1, head[3] == 3,
            let name = read(connection, Int(head[4])), let port = read(connection, 2)
        else { return }
        let target = "\(String(decoding: name, as: UTF8.self)):\(Int(port[0]) << 8 | Int(port[1]))"
        asked.change { $0.append(target) }
        guard let server = reach(target) else {
            _ = Loopback.send([5, 4, 0, 1, 0, 0, 0, 0, 0, 0], to: connection)
            return
        }
        guard Loopback.send([5, 0, 0, 1, 0, 0, 0, 0, 0, 0], to: connection) else { return }
        splice(connection, server)
    }

    private func read(_ connection: Int32, _ count: Int) -> [UInt8]? {
        var result = [UInt8](repeating: 0, count: count)
        guard count > 0 else { return result }
        return recv(connection, &result, count, Int32(MSG_WAITALL)) == count ? result : nil
    }

    // MARK: the way through

    private func reach(_ target: String) -> Int32? { targets[target].flatMap(Loopback.connect) }

    private func splice(_ client: Int32, _ server: Int32) {
        let done = DispatchSemaphore(value: 0)
        Thread.detachNewThread {
            self.pump(from: server, to: client, keeps: false)
            done.signal()
        }
        pump(from: client, to: server, keeps: true)
        done.wait()
        close(server)
    }

    private func pump(from source: Int32, to target: Int32, keeps: Bool) {
        var part = [UInt8](repeating: 0, count: 65_536)
        while true {
            let count = recv(source, &part, part.count, 0)
            guard count > 0 else { break }
            let some = Array(part[..<count])
            if keeps { bytes.change { $0 += some } }
            guard Loopback.send(some, to: target) else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
    }
}
