import Compression
import HTTPServer
import IngestAPI
import IngestStore

extension ServerRequest {
    /// The token of the one `Authorization: Bearer` header; the scheme's case does not count (RFC 9110, 11.1).
    var bearerToken: String? {
        let values = header("authorization")
        guard values.count == 1 else { return nil }
        let words = values[0].split(separator: " ", omittingEmptySubsequences: true)
        guard words.count == 2, words[0].lowercased() == "bearer" else { return nil }
        return String(words[1])
    }

    /// The body after its `Content-Encoding`.
    func decodedBody() throws(APIFailure) -> [UInt8] {
        let encodings = header("content-encoding").flatMap { $0.split(separator: ",") }
            .map { $0.trimmed.lowercased() }.filter { $0 != "identity" && !$0.isEmpty }
        switch encodings {
        case []:
            guard body.count <= IngestAPI.maxBatchBytes else {
                throw .batchTooLarge("the body is over 1 MiB")
            }
            return body
        case ["gzip"], ["x-gzip"]:
            do {
                return try Gzip.decompress(body, limit: IngestAPI.maxBatchBytes)
            } catch .tooLarge {
                throw .batchTooLarge("the body is over 1 MiB when decompressed")
            } catch .outOfMemory {
                throw APIFailure(.serverError, "there is no memory for the body")
            } catch {
                throw .malformed("\(error)")
            }
        default:
            throw APIFailure(.unsupportedEncoding, "the body's encoding is not gzip or identity")
        }
    }

    /// The one value of a query parameter; nil when it is absent.
    func single(_ name: String) throws(APIFailure) -> String? {
        let values = parameter(name)
        guard values.count <= 1 else { throw .malformed("\(name) is given more than once") }
        return values.first
    }

    private func time(_ name: String) throws(APIFailure) -> APITime? {
        guard let text = try single(name) else { return nil }
        guard let time = APITime(text) else { throw .malformed("\(name) is not an RFC 3339 time") }
        return time
    }

    /// Whose samples are asked for: one of two parameters.
    func subject() throws(APIFailure) -> SampleQuery.Subject {
        switch (try single("device_id"), try single("person")) {
        case (let device?, nil):
            guard IngestAPI.isDeviceID(device) else {
                throw APIFailure(.unknownDevice, "the device is not known")
            }
            return .device(device)
        case (nil, let person?):
            guard IngestAPI.isOpaqueID(person) else { throw .malformed("person is not an id") }
            return .person(person)
        default:
            throw .malformed("give either device_id or person")
        }
    }

    func sampleQuery() throws(APIFailure) -> SampleQuery {
        var query = SampleQuery(subject: try subject(), from: try time("from"), to: try time("to"))
        if let name = try single("type") {
            guard let type = APISampleType(rawValue: name) else { throw .malformed("type is not known") }
            query.type = type
        }
        if let text = try single("limit") {
            guard let limit = Int(text), limit > 0 else { throw .malformed("limit is not a number from 1") }
            query.limit = min(limit, IngestAPI.maxSamplesPerPage)
        }
        if let text = try single("cursor") {
            guard let position = SamplePosition(cursor: text) else {
                throw .malformed("cursor is not one that this server gave")
            }
            query.after = position
        }
        return query
    }
}

extension Substring {
    /// Without the spaces and tabs that HTTP allows around the parts of a list.
    fileprivate var trimmed: Substring {
        var text = self.drop { $0 == " " || $0 == "\t" }
        while text.last == " " || text.last == "\t" { text.removeLast() }
        return text
    }
}
