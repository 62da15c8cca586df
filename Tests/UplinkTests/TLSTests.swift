import Foundation
import HTTPClient
import Testing

/// The certificate must be the host's, from a trusted issuer, and valid now. Needs the openssl program.
@Suite(.enabled(if: FileManager.default.isExecutableFile(atPath: TLSServer.openssl)))
struct TLSTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var testDescription: String
        var name: String
        var from: String
        var to: String
        var isTrusted = true
        var expected: HTTPFailure.Code?
    }

    static let rows = [
        Row(testDescription: "good", name: "localhost", from: "20200101000000Z", to: "20990101000000Z"),
        Row(
            testDescription: "expired", name: "localhost", from: "20200101000000Z", to: "20210101000000Z",
            expected: .clock),
        Row(
            testDescription: "not yet valid", name: "localhost", from: "20980101000000Z",
            to: "20990101000000Z",
            expected: .clock),
        Row(
            testDescription: "another host's", name: "example.org", from: "20200101000000Z",
            to: "20990101000000Z",
            expected: .tls),
        Row(
            testDescription: "of an issuer that nobody trusts", name: "localhost", from: "20200101000000Z",
            to: "20990101000000Z", isTrusted: false, expected: .tls),
    ]

    @Test(arguments: rows) func aCertificateIsJudged(_ row: Row) async throws {
        let server = try TLSServer(name: row.name, from: row.from, to: row.to)
        defer { server.stop() }
        let file = row.isTrusted ? server.authorityFile : nil
        let result = await HTTPClientTests().perform(
            HTTPRequest(.get, "https://localhost:\(server.port)/"),
            options: HTTPClientOptions(authorityFile: file))
        if let expected = row.expected {
            #expect(HTTPClientTests().code(result) == expected, "\(result)")
        } else {
            #expect(try result.get().status == 200)
        }
    }
}

/// `openssl s_server` with a certificate made for one test.
final class TLSServer {
    static let openssl = "/usr/bin/openssl"

    let directory = TemporaryDirectory()
    let port: Int
    var authorityFile: String { "\(directory.path)/ca.pem" }
    private let process = Process()

    struct Failure: Error { var text: String }

    init(name: String, from: String, to: String) throws {
        let path = directory.path
        directory.write(
            """
            [ca]
            default_ca = it
            [it]
            database = \(path)/index
            new_certs_dir = \(path)
            certificate = \(path)/ca.pem
            private_key = \(path)/ca.key
            serial = \(path)/serial
            default_md = sha256
            policy = any
            copy_extensions = copy
            [any]
            commonName = supplied
            """, to: "ca.conf")
        directory.write("", to: "index")
        directory.write("01", to: "serial")
        try Self.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
            "20000",
            "-subj", "/CN=Test CA", "-keyout", "\(path)/ca.key", "-out", "\(path)/ca.pem",
        ])
        try Self.run([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=\(name)",
            "-addext", "subjectAltName=DNS:\(name)", "-keyout", "\(path)/key.pem", "-out",
            "\(path)/request.pem",
        ])
        try Self.run([
            "ca", "-batch", "-notext", "-config", "\(path)/ca.conf", "-startdate", from, "-enddate", to,
            "-in",
            "\(path)/request.pem", "-out", "\(path)/certificate.pem",
        ])
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: Self.openssl)
        process.arguments = [
            "s_server", "-accept", "127.0.0.1:0", "-cert", "\(path)/certificate.pem", "-key",
            "\(path)/key.pem", "-www",
        ]
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        // s_server ends at the end of its input.
        process.standardInput = Pipe()
        try process.run()
        var text = ""
        var found: Int?
        while found == nil {
            let data = output.fileHandleForReading.availableData
            guard !data.isEmpty else { throw Failure(text: "openssl s_server said: \(text)") }
            text += String(decoding: data, as: UTF8.self)
            // "ACCEPT 127.0.0.1:41234"
            found = text.split(separator: "\n").first { $0.hasPrefix("ACCEPT") }
                .flatMap { $0.split(separator: ":").last }.flatMap { Int($0) }
        }
        port = found ?? 0
    }

    func stop() {
        // It inherits the signal mask of a Dispatch thread, which blocks SIGTERM.
        kill(process.processIdentifier, SIGKILL)
    }

    private static func run(_ arguments: [String]) throws {
        let process = Process()
        let errors = Pipe()
        process.executableURL = URL(fileURLWithPath: openssl)
        process.arguments = arguments
        process.standardOutput = FileHandle.nullDevice
        process.standardError = errors
        try process.run()
        let text = String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        guard process.terminationStatus == 0 else { throw Failure(text: text) }
    }
}
