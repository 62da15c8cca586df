/// From when until when a certificate is valid; seconds since 1970, UTC. RFC 5280, section 4.1.2.5.
public struct CertificateValidity: Equatable, Sendable {
    public var notBefore: Int64
    public var notAfter: Int64

    public init(notBefore: Int64, notAfter: Int64) {
        self.notBefore = notBefore
        self.notAfter = notAfter
    }

    public func contains(_ seconds: Int64) -> Bool { notBefore <= seconds && seconds <= notAfter }
}

/// Reads the validity of each certificate out of a TLS handshake's Certificate message: RFC 8446, section 4.4.2, and RFC
/// 5246, section 7.4.2. What was not verified is only shown to people, beside a failure.
enum CertificateMessage {
    private static let handshakeType: UInt8 = 11
    private static let certificateLimit = 8

    /// Empty for any other message, and for what can't be read.
    static func validities(_ message: UnsafeRawBufferPointer) -> [CertificateValidity] {
        guard message.count > 8, message[0] == handshakeType, message.count <= 1 << 18 else { return [] }
        let body = message[4...]
        // TLS 1.3 has a context of its own before the list, which is empty for a server's, and extensions behind each
        // certificate.
        let isNew = body[4] == 0 && number(body.dropFirst(1).prefix(3)) == body.count - 4
        guard isNew || number(body.prefix(3)) == body.count - 3 else { return [] }
        var rest = body.dropFirst(isNew ? 4 : 3)
        var found: [CertificateValidity] = []
        while rest.count > 3, found.count < certificateLimit {
            let count = number(rest.prefix(3))
            guard count > 0, rest.count >= 3 + count else { break }
            if let validity = validity(rest.dropFirst(3).prefix(count)) { found.append(validity) }
            rest = rest.dropFirst(3 + count)
            guard isNew else { continue }
            guard rest.count >= 2 else { break }
            rest = rest.dropFirst(2 + number(rest.prefix(2)))
        }
        return found
    }

    private typealias Bytes = Slice<UnsafeRawBufferPointer>

    private static func validity(_ certificate: Bytes) -> CertificateValidity? {
        var outer = certificate
        guard var whole = DER.take(&outer, tag: DER.sequence),
            var fields = DER.take(&whole, tag: DER.sequence)
        else { return nil }
        _ = DER.take(&fields, tag: DER.version)
        guard DER.take(&fields, tag: DER.integer) != nil, DER.take(&fields, tag: DER.sequence) != nil,
            DER.take(&fields, tag: DER.sequence) != nil, var times = DER.take(&fields, tag: DER.sequence),
            let from = DER.takeTime(&times), let to = DER.takeTime(&times)
        else { return nil }
        return CertificateValidity(notBefore: from, notAfter: to)
    }

    fileprivate static func number(_ bytes: some Sequence<UInt8>) -> Int {
        bytes.reduce(0) { $0 << 8 | Int($1) }
    }
}

/// As much of X.690's distinguished encoding as leads to a validity.
private enum DER {
    typealias Bytes = Slice<UnsafeRawBufferPointer>

    static let integer: UInt8 = 0x02
    static let utcTime: UInt8 = 0x17
    static let generalizedTime: UInt8 = 0x18
    static let sequence: UInt8 = 0x30
    static let version: UInt8 = 0xa0

    /// The content of the next element, which is taken off; nil when it is another or cut short.
    static func take(_ bytes: inout Bytes, tag: UInt8) -> Bytes? {
        guard bytes.count >= 2, bytes.first == tag, let first = bytes.dropFirst().first else { return nil }
        var rest = bytes.dropFirst(2)
        var count = Int(first)
        if first >= 0x80 {
            let digits = Int(first & 0x7f)
            guard (1...3).contains(digits), rest.count >= digits else { return nil }
            count = CertificateMessage.number(rest.prefix(digits))
            rest = rest.dropFirst(digits)
        }
        guard rest.count >= count else { return nil }
        bytes = rest.dropFirst(count)
        return rest.prefix(count)
    }

    /// `YYMMDDhhmmssZ` or `YYYYMMDDhhmmssZ`, the two forms that RFC 5280 allows.
    static func takeTime(_ bytes: inout Bytes) -> Int64? {
        if let text = take(&bytes, tag: utcTime) {
            guard text.count == 13, let year = digits(text.prefix(2)) else { return nil }
            return seconds(year: year < 50 ? 2000 + year : 1900 + year, text.dropFirst(2))
        }
        guard let text = take(&bytes, tag: generalizedTime), text.count == 15,
            let year = digits(text.prefix(4))
        else { return nil }
        return seconds(year: year, text.dropFirst(4))
    }

    private static func seconds(year: Int, _ text: Bytes) -> Int64? {
        guard text.last == UInt8(ascii: "Z") else { return nil }
        var parts: [Int] = []
        for index in 0..<5 {
            guard let part = digits(text.dropFirst(index * 2).prefix(2)) else { return nil }
            parts.append(part)
        }
        guard (1...12).contains(parts[0]), (1...31).contains(parts[1]), parts[2] < 24, parts[3] < 60,
            parts[4] <= 60
        else { return nil }
        // Days of years that begin in March, so that a leap day ends one.
        let shifted = parts[0] > 2 ? year : year - 1
        let month = (parts[0] + 9) % 12
        let leapDays = shifted / 4 - shifted / 100 + shifted / 400
        let days = 365 * shifted + leapDays + (153 * month + 2) / 5 + parts[1] - 1 - 719_468
        return Int64(days) * 86_400 + Int64(parts[2] * 3600 + parts[3] * 60 + parts[4])
    }

    private static func digits(_ text: some Sequence<UInt8>) -> Int? {
        var value = 0
        for byte in text {
            guard (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte) else { return nil }
            value = value * 10 + Int(byte - UInt8(ascii: "0"))
        }
        return value
    }
}
