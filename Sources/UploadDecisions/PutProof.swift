import IngestAPI

/// Whether the answer to a PUT holds what was put.
public enum PutProof {
    /// A gap is one by its ring and first seq, and an old version of it is not what was put: see `ShownGap`.
    public static func shows(_ gaps: [APIGap], _ body: [UInt8]) -> Bool {
        shownGaps(body).map { $0.hold(gaps) } ?? false
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

struct GapKey: Decodable, Hashable {
    var ring: String
    var firstSeq: UInt32

    init(_ gap: APIGap) {
        ring = gap.ring
        firstSeq = gap.firstSeq
    }

    enum CodingKeys: String, CodingKey {
        case ring
        case firstSeq = "first_seq"
    }
}

/// How far a gap goes that the server has, and whether it is healed there.
///
/// It may say more than was put, and rightly so: one that is healed stays healed, though another gateway does not know
/// yet; its cause and times may be another gateway's, who knows them better. It may not say less: a shorter one names
/// records neither as stored nor as missing, and the last PUT of a key counts, so that a server that took it has no
/// shorter one.
struct ShownGap: Decodable, Equatable {
    /// Nil = up to the end.
    var lastSeq: UInt32?
    var healedAt: APITime?

    enum CodingKeys: String, CodingKey {
        case lastSeq = "last_seq"
        case healedAt = "healed_at"
    }

    func covers(_ put: APIGap) -> Bool {
        (lastSeq ?? .max) >= (put.lastSeq ?? .max) && (put.healedAt == nil || healedAt != nil)
    }
}

extension [GapKey: ShownGap] {
    /// All that was put is in them.
    func hold(_ gaps: [APIGap]) -> Bool {
        gaps.allSatisfy { self[GapKey($0)]?.covers($0) ?? false }
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
