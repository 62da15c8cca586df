import FoundationEssentials

/// JSON of the API to and from bytes.
public enum APIJSON {
    /// Keys are sorted, so that equal values are equal bytes.
    public static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// Unknown fields are ignored. The failure names the field, never its value.
    public static func decode<Value: Decodable>(
        _: Value.Type = Value.self, from bytes: [UInt8]
    ) throws(APIFailure) -> Value {
        guard JSONSyntax.isJSON(bytes) else { throw .malformed("the body is not JSON") }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch let failure as APIFailure {
            throw failure
        } catch let failure as DecodingError {
            throw .malformed(describe(failure))
        } catch {
            throw .malformed("the body is not JSON")
        }
    }

    private static func describe(_ failure: DecodingError) -> String {
        switch failure {
        case .keyNotFound(let key, let context): "\(path(context, key)) is missing"
        case .valueNotFound(_, let context): "\(path(context)) is null"
        case .typeMismatch(_, let context): "\(path(context)) has the wrong type"
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "the body is not JSON"
        case .dataCorrupted(let context): "\(path(context)) is not valid"
        @unknown default: "the body can't be read"
        }
    }

    private static func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
        let keys = context.codingPath + [last].compactMap { $0 }
        return keys.isEmpty ? "the body" : keys.map(\.stringValue).joined(separator: ".")
    }
}
