import HTTPServer

/// Where a server's certificate and its key are, both in PEM.
public struct TLSFiles: Equatable, Sendable {
    /// The leaf certificate first, then those that lead to the authority's.
    public var certificate: String
    /// Nobody but its owner may read it.
    public var key: String

    public init(certificate: String, key: String) {
        self.certificate = certificate
        self.key = key
    }

    public func load() throws(ExitFailure) -> TLSIdentity {
        let certificateBytes = try read(certificate, "TLS certificate", isSecret: false)
        let keyBytes = try read(key, "TLS key", isSecret: true)
        do {
            return try TLSIdentity(certificate: certificateBytes, key: keyBytes)
        } catch {
            throw ExitFailure(status: 78, "TLS certificate \(certificate) and key \(key): \(error)")
        }
    }

    private func read(_ path: String, _ name: String, isSecret: Bool) throws(ExitFailure) -> [UInt8] {
        do {
            return try SecretFile.read(path, isSecret: isSecret)
        } catch {
            throw ExitFailure(status: 78, "\(name) \(path): \(error)")
        }
    }
}
