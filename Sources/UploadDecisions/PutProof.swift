import IngestAPI

/// Whether the answer to a PUT holds what was put.
public enum PutProof {
    /// Those of `gaps` that an answer holds as they were put.
    public static func held(_ gaps: [APIGap], _ body: [UInt8]) -> Set<GapKey> {
        shownGaps(body).map { $0.held(of: gaps) } ?? []
    }

    public static func shows(_ report: DeviceReport, _ body: [UInt8]) -> Bool {
        guard let answered = try? APIJSON.decode(DeviceReport.self, from: body) else { return false }
        return answered == report
    }

    public static func shows(_ record: PersonRecord, _ body: [UInt8]) -> Bool {
        guard let answered = try? APIJSON.decode(PersonRecord.self, from: body) else { return false }
        // One of nothing would be in any JSON object.
        return answered == record && JSONObject.isOne(body, having: "zones")
    }

    /// Nil = it is no list of gaps. One whose cause is not known here is one all the same.
    static func shownGaps(_ body: [UInt8]) -> [GapKey: ShownGap]? {
        (try? APIJSON.decode(ShownGaps.self, from: body)).map {
            // Of one that comes twice the later counts, as for who put it.
            Dictionary($0.gaps.map { ($0.key, $0.gap) }, uniquingKeysWith: { $1 })
        }
    }

    private struct ShownGaps: Decodable {
        var gaps: [Entry]

        struct Entry: Decodable {
            var key: GapKey
            var gap: ShownGap

            init(from decoder: any Decoder) throws {
                key = try GapKey(from: decoder)
                gap = try ShownGap(from: decoder)
            }
        }
    }
}

/// What a gap of a device is one by.
public struct GapKey: Decodable, Hashable, Sendable {
    public var ring: String
    public var firstSeq: UInt32

    public init(_ gap: APIGap) { self.init(ring: gap.ring, firstSeq: gap.firstSeq) }

    public init(ring: String, firstSeq: UInt32) {
        self.ring = ring
        self.firstSeq = firstSeq
    }

    enum CodingKeys: String, CodingKey {
        case ring
        case firstSeq = "first_seq"
    }
}

/// A gap as the server has it, whatever its cause is called.
///
/// The last PUT of a key counts, so a server that took it has just what was put: an older version of it is longer or
/// shorter, has another cause or other times. One that is healed stays healed, though, where another gateway does not
/// know of it yet. A gap that another gateway put a moment later is not proven, and put again.
public struct ShownGap: Decodable, Equatable, Sendable {
    /// Nil = up to the end.
    public var lastSeq: UInt32?
    var after: APITime?
    var before: APITime?
    var cause: String?
    var healedAt: APITime?

    enum CodingKeys: String, CodingKey {
        case after, before, cause
        case lastSeq = "last_seq"
        case healedAt = "healed_at"
    }

    /// Nil when its cause is not known here.
    public func gap(_ key: GapKey) -> APIGap? {
        cause.flatMap { APIGapCause(rawValue: $0) }.map { cause in
            APIGap(
                ring: key.ring, firstSeq: key.firstSeq, lastSeq: lastSeq, after: after, before: before,
                cause: cause,
                healedAt: healedAt)
        }
    }

    func isOf(_ put: APIGap) -> Bool {
        lastSeq == put.lastSeq && after == put.after && before == put.before && cause == put.cause.rawValue
            && (put.healedAt == nil || healedAt == put.healedAt)
    }
}

extension [GapKey: ShownGap] {
    func held(of gaps: [APIGap]) -> Set<GapKey> {
        Set(gaps.filter { self[GapKey($0)]?.isOf($0) ?? false }.map(GapKey.init))
    }
}

/// A JSON object of any kind, or one that has a certain field.
enum JSONObject {
    static func isOne(_ body: [UInt8], having field: String? = nil) -> Bool {
        guard let object = try? APIJSON.decode(Fields.self, from: body) else { return false }
        return field.map { object.names.contains($0) } ?? true
    }

    private struct Fields: Decodable {
        var names: Set<String>

        init(from decoder: any Decoder) throws {
            names = Set(try decoder.container(keyedBy: Name.self).allKeys.map(\.stringValue))
        }
    }

    private struct Name: CodingKey {
        var stringValue: String
        var intValue: Int? { nil }

        init?(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}
