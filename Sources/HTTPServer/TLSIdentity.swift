import CMicrohttpd
import Locking

/// A certificate with its chain and its private key: what a server shows to its clients.
public final class TLSIdentity: @unchecked Sendable {
    // Never changed after it is made.
    fileprivate let pointer: UnsafeMutablePointer<bandferry_tls_identity>

    /// The leaf certificate's end, in seconds since 1970.
    public var expires: Int { pointer.pointee.expires }

    /// Both in PEM; the leaf certificate comes first. Throws when they do not belong together.
    public init(certificate: [UInt8], key: [UInt8]) throws(TLSFailure) {
        guard bandferry_mhd_load() else { throw TLSFailure(HTTPServerFailure.notInstalled) }
        var code: Int32 = 0
        let pointer = certificate.withUnsafeBufferPointer { certificate in
            key.withUnsafeBufferPointer { key in
                bandferry_tls_load(
                    certificate.baseAddress, UInt32(certificate.count), key.baseAddress, UInt32(key.count),
                    &code)
            }
        }
        guard let pointer else {
            throw TLSFailure(
                code == GNUTLS_E_CERTIFICATE_KEY_MISMATCH
                    ? "the key is not the certificate's" : String(cString: bandferry_tls_text(code)))
        }
        self.pointer = pointer
    }

    deinit { bandferry_tls_free(pointer) }
}

/// Why a certificate and a key can't be used.
public struct TLSFailure: Error, Equatable, Sendable, CustomStringConvertible {
    public var description: String

    public init(_ description: String) { self.description = description }
}

/// The identity that new handshakes of one server use.
final class TLSSlot: @unchecked Sendable {
    /// TLS 1.3 and 1.2, and of 1.2 only what keeps old traffic secret when the key is lost.
    static let priorities =
        "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2:-RSA:-DHE-RSA:-AES-128-CBC:-AES-256-CBC"

    /// A handshake that began with an identity may need it to its end.
    private static let longestHandshake = Duration.seconds(600)

    let slot: UnsafeMutablePointer<bandferry_tls_slot>
    private struct Holding {
        var current: TLSIdentity
        var replaced: [(identity: TLSIdentity, at: ContinuousClock.Instant)] = []
    }
    private let holding: Guarded<Holding>

    init(_ identity: TLSIdentity) {
        slot = .allocate(capacity: 1)
        slot.initialize(to: bandferry_tls_slot(current: identity.pointer))
        holding = Guarded(Holding(current: identity))
    }

    deinit { slot.deallocate() }

    func replace(_ identity: TLSIdentity) {
        let now = ContinuousClock.now
        holding.withLock {
            $0.replaced.removeAll { now - $0.at > Self.longestHandshake }
            $0.replaced.append(($0.current, now))
            $0.current = identity
            bandferry_tls_store(slot, identity.pointer)
        }
    }
}
