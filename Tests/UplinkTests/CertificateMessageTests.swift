import Testing

@testable import HTTPClient

/// The Certificate message of a handshake, written by hand from the two RFCs. `TLSRuleTests` has real ones.
@Suite struct CertificateMessageTests {
    static let dates = CertificateValidity(notBefore: 1_767_225_600, notAfter: 4_102_444_799)

    /// DER with a length of as many bytes as it takes.
    private func element(_ tag: UInt8, _ content: [UInt8]) -> [UInt8] {
        let count = content.count
        if count < 128 { return [tag, UInt8(count)] + content }
        if count < 256 { return [tag, 0x81, UInt8(count)] + content }
        return [tag, 0x82, UInt8(count >> 8), UInt8(count & 255)] + content
    }

    private func certificate(
        from: [UInt8] = [0x17, 13] + Array("260101000000Z".utf8),
        to: [UInt8] = [0x18, 15] + Array("20991231235959Z".utf8), issuer: Int = 20, hasVersion: Bool = true
    ) -> [UInt8] {
        let version = hasVersion ? element(0xa0, [2, 1, 2]) : []
        let fields =
            version + element(2, [1, 2, 3]) + element(0x30, [6, 1, 42])
            + element(0x30, [UInt8](repeating: 7, count: issuer)) + element(0x30, from + to)
            + element(0x30, [1, 1, 255])
        return element(0x30, element(0x30, fields) + element(0x30, [5, 0]) + [3, 1, 0])
    }

    private func size(_ count: Int) -> [UInt8] {
        [UInt8(count >> 16 & 255), UInt8(count >> 8 & 255), UInt8(count & 255)]
    }

    /// RFC 8446, section 4.4.2, or RFC 5246, section 7.4.2.
    private func message(_ certificates: [[UInt8]], isNew: Bool) -> [UInt8] {
        var list: [UInt8] = []
        for certificate in certificates {
            list += size(certificate.count)
            list += certificate
            if isNew { list += [0, 2, 9, 9] }
        }
        var body: [UInt8] = isNew ? [0] : []
        body += size(list.count)
        body += list
        return [11] + size(body.count) + body
    }

    private func read(_ bytes: [UInt8]) -> [CertificateValidity] {
        bytes.withUnsafeBytes { CertificateMessage.validities($0) }
    }

    @Test(arguments: [true, false]) func eachCertificateIsRead(_ isNew: Bool) {
        for issuer in [20, 150, 700] {
            for hasVersion in [true, false] {
                let one = certificate(issuer: issuer, hasVersion: hasVersion)
                #expect(read(message([one], isNew: isNew)) == [Self.dates])
            }
        }
        let other = certificate(
            from: [0x17, 13] + Array("500228120000Z".utf8), to: [0x17, 13] + Array("490301000001Z".utf8))
        #expect(
            read(message([certificate(), other, certificate()], isNew: isNew)) == [
                Self.dates, CertificateValidity(notBefore: -626_097_600, notAfter: 2_498_169_601), Self.dates,
            ])
        #expect(read(message([[UInt8]](repeating: certificate(), count: 40), isNew: isNew)).count == 8)
    }

    @Test(arguments: [true, false]) func noStrictPrefixIsRead(_ isNew: Bool) {
        let whole = message([certificate()], isNew: isNew)
        for count in 0..<whole.count { #expect(read(Array(whole.prefix(count))) == []) }
        #expect(read(whole + [0]) == [])
    }

    @Test func otherMessagesAndTimesAreNone() {
        var hello = message([certificate()], isNew: true)
        hello[0] = 2
        #expect(read(hello) == [])
        for text in [
            "2601010000Z00", "260101000000+", "26x101000000Z", "261301000000Z", "260132000000Z",
            "260101240000Z",
            "260101006000Z", "260101000061Z", "260001000000Z", "260100000000Z",
        ] {
            let bad = certificate(from: [0x17, UInt8(text.utf8.count)] + Array(text.utf8))
            #expect(read(message([bad], isNew: true)) == [], "\(text)")
        }
        #expect(read(message([[0x30, 0x84, 1, 1, 1, 1]], isNew: true)) == [])
        #expect(read(message([[]], isNew: true)) == [])
    }

    @Test(arguments: 1...200 as ClosedRange<UInt64>) func whatWasChangedOnTheWayBreaksNothing(_ seed: UInt64)
    {
        var random = SeededRandom(seed: seed)
        var bytes = message([certificate(), certificate(issuer: 200)], isNew: Bool.random(using: &random))
        for _ in 0..<Int.random(in: 1...6, using: &random) {
            let index = Int.random(in: 0..<bytes.count, using: &random)
            bytes[index] = UInt8.random(in: 0...255, using: &random)
        }
        #expect(read(bytes).count <= 8, "seed \(seed)")
        // And inside of a larger buffer that is not its own.
        let around = [1, 2, 3] + bytes + [4, 5, 6]
        around.withUnsafeBytes { buffer in
            _ = CertificateMessage.validities(UnsafeRawBufferPointer(rebasing: buffer[3..<3 + bytes.count]))
        }
    }

    @Test func daysAreTheCalendars() {
        for (text, seconds) in [
            ("19700101000000Z", 0), ("20000229000000Z", 951_782_400), ("20240229235959Z", 1_709_251_199),
            ("21000301000000Z", 4_107_542_400), ("19000301000000Z", -2_203_891_200),
        ] as [(String, Int64)] {
            let one = certificate(from: [0x18, 15] + Array(text.utf8))
            #expect(read(message([one], isNew: true)).first?.notBefore == seconds, "\(text)")
        }
    }
}
