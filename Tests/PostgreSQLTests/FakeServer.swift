import Dispatch
import Glibc
import PostgreSQL

/// A listener on 127.0.0.1 that speaks as little of the protocol as a test wants (PostgreSQL 15, chapter 55).
///
/// It takes one connection, on a thread of its own, and does one step for each time that the client has said something.
final class FakeServer: Sendable {
    enum Step: Sendable {
        case send([UInt8])
        /// Sends the first, then closes.
        case close(after: [UInt8])
        /// Sends the first, and then the other every few milliseconds until the client goes.
        case chatter(after: [UInt8], repeating: [UInt8])
    }

    struct Failure: Error {}

    static let authenticationOk: [UInt8] = [UInt8(ascii: "R"), 0, 0, 0, 8, 0, 0, 0, 0]
    /// Lets anybody in: with BackendKeyData and ReadyForQuery.
    static let welcome: [UInt8] =
        authenticationOk + [
            UInt8(ascii: "K"), 0, 0, 0, 12, 0, 0, 0, 1, 0, 0, 0, 2,
        ]
        + [UInt8(ascii: "Z"), 0, 0, 0, 5, UInt8(ascii: "I")]
    /// NoticeResponse with severity, code and message.
    static let notice: [UInt8] = {
        let fields = Array("SNOTICE\0VNOTICE\0C00000\0Mhm\0\0".utf8)
        return [UInt8(ascii: "N"), 0, 0, 0, UInt8(fields.count + 4)] + fields
    }()

    let port: UInt16
    private let listener: Int32

    init(_ steps: [Step]) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr.s_addr = UInt32(0x7f00_0001).bigEndian
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let isListening = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { address in
                bind(listener, address, size) == 0 && listen(listener, 8) == 0
                    && getsockname(listener, address, &size) == 0
            }
        }
        guard isListening else { throw Failure() }
        port = UInt16(bigEndian: address.sin_port)
        self.listener = listener
        // Without steps it never takes the connection that the kernel made.
        guard !steps.isEmpty else { return }
        DispatchQueue(label: "fake server").async { Self.serve(steps, listener) }
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var conninfo: String {
        "host=127.0.0.1 port=\(port) user=u dbname=d sslmode=disable gssencmode=disable"
    }

    private static func serve(_ steps: [Step], _ listener: Int32) {
        let client = accept(listener, nil, nil)
        guard client >= 0 else { return }
        defer { close(client) }
        var heard = [UInt8](repeating: 0, count: 1 << 16)
        for step in steps {
            guard recv(client, &heard, heard.count, 0) > 0 else { return }
            switch step {
            case .send(let bytes): guard say(bytes, client) else { return }
            case .close(let bytes):
                _ = say(bytes, client)
                return
            case .chatter(let bytes, let more):
                guard say(bytes, client) else { return }
                while say(more, client) { poll(nil, 0, 5) }
            }
        }
        // Silent until the client goes.
        while recv(client, &heard, heard.count, 0) > 0 {}
    }

    private static func say(_ bytes: [UInt8], _ client: Int32) -> Bool {
        send(client, bytes, bytes.count, Int32(MSG_NOSIGNAL)) == bytes.count
    }
}
