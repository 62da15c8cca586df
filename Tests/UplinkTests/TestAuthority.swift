import Foundation
import ProcessTestSupport

/// A certificate authority of one test, with certificates for servers and clients. Needs the openssl program.
final class TestAuthority {
    static let openssl = "/usr/bin/openssl"

    struct Issued: Sendable {
        var certificate: String
        var key: String
    }

    struct Failure: Error { var text: String }

    private let directory = TemporaryDirectory()
    private var serial = 0
    /// What a client trusts.
    var file: String { "\(directory.path)/ca.pem" }

    init() throws {
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
            unique_subject = no
            [any]
            commonName = supplied
            """, to: "ca.conf")
        directory.write("", to: "index")
        directory.write("01", to: "serial")
        try Self.run([
            "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days",
            "20000", "-subj", "/CN=Test CA", "-keyout", "\(path)/ca.key", "-out", "\(path)/ca.pem",
        ])
    }

    /// Times are `YYYYMMDDhhmmssZ`.
    func issue(
        _ name: String, from: String = "20200101000000Z", to: String = "20990101000000Z"
    ) throws -> Issued {
        serial += 1
        let base = "\(directory.path)/\(serial)"
        try Self.run([
            "req", "-new", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj",
            "/CN=\(name)", "-addext", "subjectAltName=DNS:\(name)", "-keyout", "\(base).key", "-out",
            "\(base).request",
        ])
        try Self.run([
            "ca", "-batch", "-notext", "-config", "\(directory.path)/ca.conf", "-startdate", from, "-enddate",
            to, "-in", "\(base).request", "-out", "\(base).pem",
        ])
        chmod("\(base).key", 0o600)
        return Issued(certificate: "\(base).pem", key: "\(base).key")
    }

    private static func run(_ arguments: [String]) throws {
        let done = try ChildProcess.run(openssl, arguments)
        guard done.status == 0 else { throw Failure(text: done.errors) }
    }
}

/// TLS in front of a plain port, by Python's ssl.
final class TLSFront {
    private static let python = "/usr/bin/python3"

    static let isPossible =
        FileManager.default.isExecutableFile(atPath: TestAuthority.openssl)
        && FileManager.default.isExecutableFile(atPath: python)

    let port: UInt16
    private let process: ChildProcess
    /// Its end is that of the process.
    private let input = Pipe()

    /// - Parameter clients: the authority whose certificates a client has to show; nil = none.
    init(_ own: TestAuthority.Issued, upstream: UInt16, clients: TestAuthority? = nil) throws {
        let script = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
            .appending(path: "tls_front.py").path
        let output = try Spool()
        process = try ChildProcess(
            Self.python,
            [script, own.certificate, own.key, "\(upstream)"] + (clients.map { [$0.file] } ?? []),
            input: .descriptor(input.fileHandleForReading.fileDescriptor), output: output.stream)
        for _ in 0..<6_000 where process.isRunning && !output.text.contains("\n") { usleep(10_000) }
        let line = output.text
        guard let port = UInt16(line.trimmingCharacters(in: .whitespacesAndNewlines)) else {
            throw TestAuthority.Failure(text: "tls_front.py said: \(line)")
        }
        self.port = port
    }

    func stop() { process.kill(SIGKILL) }
}
