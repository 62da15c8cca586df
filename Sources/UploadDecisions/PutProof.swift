import IngestAPI

/// Whether the answer to a PUT holds what was put.
public enum PutProof {
    /// A gap is one by its ring and first seq; what else the server says of it may be better than what was put.
    public static func shows(_ gaps: [APIGap], _ body: [UInt8]) -> Bool {
        gapKeys(body).map { $0.isSuperset(of: gaps.map(GapKey.init)) } ?? false
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
    static func gapKeys(_ body: [UInt8]) -> Set<GapKey>? {
        (try? APIJSON.decode(NamedGaps.self, from: body)).map { Set($0.gaps) }
    }

    private struct NamedGaps: Decodable {
        var gaps: [GapKey]
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
