import FoundationEssentials

/// JSON of the API to and from bytes.
public enum APIJSON {
    /// Keys are sorted, so that equal values are equal bytes.
    public static func encode(_ value: some Encodable) throws -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return Array(try encoder.encode(value))
    }

    /// `{ NAME: [ … ] }`, with no more in hand than the bytes and one element. `batch_too_large` past `limit` bytes.
    public static func encodeList(
        _ name: String, _ elements: [some Encodable], limit: Int
    ) throws(APIFailure) -> [UInt8] {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        var bytes = Array("{\"\(name)\":[".utf8)
        for (index, element) in elements.enumerated() {
            guard let encoded = try? encoder.encode(element) else {
                throw APIFailure(.serverError, "the answer could not be written")
            }
            if index > 0 { bytes.append(UInt8(ascii: ",")) }
            bytes += encoded
            guard bytes.count < limit - 1 else {
                throw .batchTooLarge("there is more than fits into an answer")
            }
        }
        return bytes + Array("]}".utf8)
    }

    /// Unknown fields are ignored. The failure names the field, never its value.
    public static func decode<Value: Decodable>(
        _: Value.Type = Value.self, from bytes: [UInt8]
    ) throws(APIFailure) -> Value {
        guard JSONSyntax.isJSON(bytes) else { throw .malformed(notJSON) }
        do {
            return try JSONDecoder().decode(Value.self, from: Data(bytes))
        } catch let failure as APIFailure {
            throw failure
        } catch let failure as DecodingError {
            throw .malformed(describe(failure))
        } catch {
            throw .malformed("the body can't be read")
        }
    }

    private static let notJSON = "the body is not JSON"

    private static func describe(_ failure: DecodingError) -> String {
        switch failure {
        case .keyNotFound(let key, let context): "\(path(context, key)) is missing"
        case .valueNotFound(_, let context): "\(path(context)) is null"
        case .typeMismatch(_, let context): "\(path(context)) has the wrong type"
        // It is JSON: what a decoder says without a field is of a number, of which `whole` tells more.
        case .dataCorrupted(let context) where context.codingPath.isEmpty: "a number in it can't be taken"
        case .dataCorrupted(let context): "\(path(context)) is not valid"
        @unknown default: "the body can't be read"
        }
    }

    private static func path(_ context: DecodingError.Context, _ last: (any CodingKey)? = nil) -> String {
        path(context.codingPath + [last].compactMap { $0 })
    }

    fileprivate static func path(_ keys: [any CodingKey]) -> String {
        keys.isEmpty
            ? "the body" : keys.map { $0.intValue.map { "\($0)" } ?? $0.stringValue }.joined(separator: ".")
    }
}

extension KeyedDecodingContainer {
    /// A whole number. Of one that its type can't hold the decoder does not say which field it is; this does.
    func whole<Number: FixedWidthInteger & Decodable>(
        _: Number.Type = Number.self, forKey key: Key
    ) throws -> Number {
        do {
            return try decode(Number.self, forKey: key)
        } catch {
            throw named(error, key)
        }
    }

    /// Nil when it is absent or null.
    func wholeIfPresent<Number: FixedWidthInteger & Decodable>(
        _: Number.Type = Number.self, forKey key: Key
    ) throws -> Number? {
        do {
            return try decodeIfPresent(Number.self, forKey: key)
        } catch {
            throw named(error, key)
        }
    }

    private func named(_ error: any Error, _ key: Key) -> any Error {
        switch error {
        case DecodingError.keyNotFound, DecodingError.valueNotFound, DecodingError.typeMismatch: error
        default:
            APIFailure.malformed(
                "\(APIJSON.path(codingPath + [key])) is out of range, or not a whole number")
        }
    }
}
