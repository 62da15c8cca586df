import Compression
import Foundation
import GatewayModel
import HTTPClient
import IngestAPI

@testable import Uplink

/// Ingest API 1 in memory, as strict as the text, with a place for each fault.
final class ModelServer: UploadTransport, Sendable {
    struct Key: Hashable {
        var device: String
        var type: APISampleType
        var seq: UInt32
    }

    struct Stored: Equatable {
        var sample: APISample
        var timesNew = 1
    }

    struct Contents {
        var samples: [Key: Stored] = [:]
        var completeThrough: [String: UInt32] = [:]
        var gaps: [String: [APIGap]] = [:]
        var reports: [String: DeviceReport] = [:]
        /// Content by sync_id: an id that comes back with other content is a broken promise.
        var contentBySyncID: [String: [UInt8]] = [:]
        var brokenPromises: [String] = []
        /// In order of arrival: `POST`, `GET device`, `PUT gaps device`.
        var log: [String] = []
        var batchSizes: [Int] = []
        var tokens: Set<String> = []
        var maxVersion = 1
        var persons: [String: PersonRecord] = [:]
        var pageSize = 1_000
        /// Raw samples that were let go: counted, and shown by nothing else.
        var expired: Set<Key> = []
        /// What a PUT of gaps, a status or a person is answered with instead of what is stored then.
        var putAnswer: HTTPResponse?
        /// False = it knows no ranges.
        var hasRanges = false
        /// Who holds a device, and until when by the clock of the test, s; nil as a whole = it knows no leases.
        var leases: [String: (holder: String, until: Int64)]? = nil
        var now: Int64 = 0
    }

    /// What is done to one request instead of, or to, its proper answer.
    typealias Fault =
        @Sendable (HTTPRequest, _ proper: () -> HTTPResponse) -> Result<HTTPResponse, HTTPFailure>?

    let contents = Locked(Contents())
    private let fault = Locked<Fault?>(nil)
    private let rejection = Locked<(@Sendable (APISample) -> RejectionCode?)?>(nil)
    private let poison = Locked<(@Sendable (APISample) -> Bool)?>(nil)

    func set(fault: Fault?) { self.fault.change { $0 = fault } }
    /// Samples that are rejected one by one.
    func set(rejection: (@Sendable (APISample) -> RejectionCode?)?) {
        self.rejection.change { $0 = rejection }
    }
    /// Samples for which the whole batch is refused with 400.
    func set(poison: (@Sendable (APISample) -> Bool)?) { self.poison.change { $0 = poison } }

    func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse {
        if let result = fault.value?(request, { self.answer(request) }) { return try result.get() }
        return answer(request)
    }

    static func error(_ failure: APIFailure) -> HTTPResponse {
        HTTPResponse(
            status: failure.code.status,
            body: Array(
                #"{"error":{"code":"\#(failure.code.rawValue)","message":"\#(failure.message)"}}"#.utf8))
    }

    func answer(_ request: HTTPRequest) -> HTTPResponse {
        let parts = request.url.split(separator: "/").map(String.init)
        if parts.count > 3, parts[3] == "persons" { return person(request, parts.last ?? "") }
        let token = request.headers.first { $0.name == "Authorization" }?.value ?? ""
        _ = contents.change { $0.tokens.insert(token) }
        switch (request.method, parts.last) {
        case (.post, "samples:batch"):
            return post(request)
        case (.get, let query?) where query.hasPrefix("samples?"):
            contents.change { $0.log.append("GET samples") }
            return page(query)
        case (.get, "ranges?by=day"):
            contents.change { $0.log.append("GET ranges") }
            return ranges(parts[parts.count - 2])
        case (.get, "gaps"):
            contents.change { $0.log.append("GET gaps") }
            return gaps(parts[parts.count - 2])
        case (.get, let device?):
            contents.change { $0.log.append("GET \(device)") }
            return state(device)
        case (_, let what?) where what.hasPrefix("lease"):
            contents.change { $0.log.append("\(request.method.rawValue) lease") }
            return lease(request, parts[parts.count - 2], what)
        case (.put, let what?):
            let device = parts[parts.count - 2]
            contents.change { $0.log.append("PUT \(what) \(device)") }
            return put(what, device, request.body)
        default:
            return Self.error(APIFailure(.notFound, ""))
        }
    }

    private func post(_ request: HTTPRequest) -> HTTPResponse {
        let isPacked = request.headers.contains(HTTPHeader("Content-Encoding", "gzip"))
        guard let body = isPacked ? try? Gzip.decompress(request.body, limit: 1 << 21) : request.body else {
            return Self.error(.malformed("gzip"))
        }
        let batch: ReceivedBatch
        do {
            batch = try ReceivedBatch(decoding: body)
        } catch {
            return Self.error(error)
        }
        let poison = poison.value
        let rejection = rejection.value
        return contents.change { contents in
            contents.log.append("POST \(batch.deviceID)")
            contents.batchSizes.append(batch.samples.count)
            if let known = contents.contentBySyncID[batch.syncID], known != body {
                contents.brokenPromises.append(batch.syncID)
            }
            contents.contentBySyncID[batch.syncID] = body
            let samples = batch.samples.map { try? $0.get() }
            if samples.contains(where: { sample in sample.map { poison?($0) ?? false } ?? true }) {
                return Self.error(.malformed("poison"))
            }
            var answer = BatchAnswer(syncID: batch.syncID)
            for (index, sample) in samples.enumerated() {
                guard let sample else { continue }
                if let code = rejection?(sample) {
                    answer.rejected.append(.init(index: index, code: code.rawValue, message: ""))
                    continue
                }
                let key = Key(device: batch.deviceID, type: sample.type, seq: sample.seq)
                contents.maxVersion = max(contents.maxVersion, sample.version)
                if let known = contents.samples[key] {
                    if sample.version > known.sample.version {
                        contents.samples[key]?.sample = sample
                        answer.corrected += 1
                    } else {
                        answer.duplicates += 1
                    }
                } else {
                    contents.samples[key] = Stored(sample: sample)
                    answer.accepted += 1
                }
            }
            for key in contents.samples.keys where key.device == batch.deviceID {
                answer.ackSeq[key.type.rawValue] = max(answer.ackSeq[key.type.rawValue] ?? 0, key.seq)
            }
            if let through = batch.completeThrough {
                contents.completeThrough[batch.deviceID] = max(
                    contents.completeThrough[batch.deviceID] ?? 0, through)
            }
            return HTTPResponse(status: 200, body: (try? APIJSON.encode(answer)) ?? [])
        }
    }

    private func state(_ device: String) -> HTTPResponse {
        contents.change { contents in
            let keys = contents.samples.keys.filter { $0.device == device }
            guard !keys.isEmpty else { return Self.error(APIFailure(.unknownDevice, "")) }
            var acks: [String: UInt32] = [:]
            for key in keys { acks[key.type.rawValue] = max(acks[key.type.rawValue] ?? 0, key.seq) }
            let state = DeviceState(
                deviceID: device,
                rings: [
                    RingState(
                        ring: ring.description, completeThrough: contents.completeThrough[device],
                        ackSeq: acks,
                        firstSeen: APITime(milliseconds: 0))
                ], maxVersion: contents.maxVersion,
                counts: Dictionary(grouping: keys, by: \.type.rawValue).mapValues(\.count),
                status: contents.reports[device])
            return HTTPResponse(status: 200, body: (try? APIJSON.encode(state)) ?? [])
        }
    }

    private func person(_ request: HTTPRequest, _ name: String) -> HTTPResponse {
        contents.change { contents in
            contents.log.append("\(request.method.rawValue) person \(name)")
            if request.method == .put {
                guard let record = try? APIJSON.decode(PersonRecord.self, from: request.body),
                    record.fault == nil
                else { return Self.error(.malformed("person")) }
                contents.persons[name] = record
            }
            if request.method == .put, let answer = contents.putAnswer { return answer }
            guard let record = contents.persons[name] else { return Self.error(APIFailure(.notFound, "")) }
            return HTTPResponse(status: 200, body: (try? APIJSON.encode(record)) ?? [])
        }
    }

    private func ranges(_ device: String) -> HTTPResponse {
        contents.change { contents in
            let shown = contents.samples.filter {
                $0.key.device == device && !contents.expired.contains($0.key)
            }
            guard contents.hasRanges, contents.samples.keys.contains(where: { $0.device == device }) else {
                return Self.error(APIFailure(.unknownDevice, ""))
            }
            let days = Dictionary(grouping: shown) { entry in
                "\(entry.value.sample.recordedAt.description.prefix(10)) \(entry.key.type.rawValue)"
            }
            let list = days.values.compactMap { entries -> DayRange? in
                guard let first = entries.first else { return nil }
                let seqs = entries.map(\.key.seq)
                return DayRange(
                    ring: ring.description, type: first.key.type,
                    day: String(first.value.sample.recordedAt.description.prefix(10)), count: seqs.count,
                    minSeq: seqs.min() ?? 0, maxSeq: seqs.max() ?? 0)
            }
            return HTTPResponse(status: 200, body: (try? APIJSON.encode(RangeList(ranges: list))) ?? [])
        }
    }

    /// Of the whole history where no times are given.
    private func page(_ query: String) -> HTTPResponse {
        var fields: [String: String] = [:]
        for field in query.dropFirst("samples?".count).split(separator: "&") {
            let parts = field.split(separator: "=", maxSplits: 1)
            fields[String(parts[0])] = parts[1].removingPercentEncoding
        }
        return contents.change { contents in
            let device = fields["device_id"] ?? ""
            let from = fields["from"].flatMap { APITime($0) } ?? .earliest
            let to = fields["to"].flatMap { APITime($0) } ?? .latest
            let found = contents.samples.filter {
                $0.key.device == device && !contents.expired.contains($0.key)
                    && $0.value.sample.recordedAt >= from
                    && $0.value.sample.recordedAt < to
            }.map(\.value.sample).sorted { ($0.recordedAt, $0.seq) < ($1.recordedAt, $1.seq) }
            guard contents.samples.keys.contains(where: { $0.device == device }) else {
                return Self.error(APIFailure(.unknownDevice, ""))
            }
            let start = fields["cursor"].flatMap { Int($0) } ?? 0
            let end = min(found.count, start + contents.pageSize)
            let samples = found[min(start, end)..<end].map {
                StoredSample(deviceID: device, ring: ring.description, sample: $0)
            }
            let page = SamplesPage(samples: samples, nextCursor: end < found.count ? "\(end)" : nil)
            return HTTPResponse(status: 200, body: (try? APIJSON.encode(page)) ?? [])
        }
    }

    private func lease(_ request: HTTPRequest, _ device: String, _ what: String) -> HTTPResponse {
        contents.change { contents in
            guard var leases = contents.leases else { return Self.error(APIFailure(.notFound, "")) }
            if let held = leases[device], held.until <= contents.now { leases[device] = nil }
            func answer(_ status: Int = 200) -> HTTPResponse {
                let held = leases[device]
                let until = held.map { APITime(milliseconds: $0.until * 1000) }
                let body: any Encodable =
                    status == 200
                    ? LeaseAnswer(holder: held?.holder, expiresAt: until)
                    : LeaseHeldBody(
                        error: ErrorBody(code: "lease_held", message: "").error, holder: held?.holder ?? "",
                        expiresAt: until ?? .earliest)
                return HTTPResponse(status: status, body: (try? APIJSON.encode(body)) ?? [])
            }
            defer { contents.leases = leases }
            if request.method == .delete {
                if leases[device]?.holder == what.split(separator: "=").last.map(String.init) {
                    leases[device] = nil
                }
                return answer()
            }
            guard let asked = try? APIJSON.decode(LeaseRequest.self, from: request.body) else {
                return Self.error(.malformed("lease"))
            }
            if let held = leases[device], held.holder != asked.gatewayID { return answer(409) }
            leases[device] = (asked.gatewayID, contents.now + Int64(asked.ttlSeconds))
            return answer()
        }
    }

    private func gaps(_ device: String) -> HTTPResponse {
        let contents = contents.value
        guard contents.samples.keys.contains(where: { $0.device == device }) else {
            return Self.error(APIFailure(.unknownDevice, ""))
        }
        let list = GapList(gaps: contents.gaps[device] ?? [])
        return HTTPResponse(status: 200, body: (try? APIJSON.encode(list)) ?? [])
    }

    private func put(_ what: String, _ device: String, _ body: [UInt8]) -> HTTPResponse {
        contents.change { contents in
            guard contents.samples.keys.contains(where: { $0.device == device }) else {
                return Self.error(APIFailure(.unknownDevice, ""))
            }
            switch what {
            case "gaps":
                guard let list = try? APIJSON.decode(GapList.self, from: body) else {
                    return Self.error(.malformed("gaps"))
                }
                for gap in list.gaps {
                    contents.gaps[device, default: []].removeAll {
                        $0.ring == gap.ring && $0.firstSeq == gap.firstSeq
                    }
                    contents.gaps[device, default: []].append(gap)
                }
            case "status":
                guard let report = try? APIJSON.decode(DeviceReport.self, from: body) else {
                    return Self.error(.malformed("status"))
                }
                contents.reports[device] = report
            default:
                return Self.error(APIFailure(.notFound, ""))
            }
            return contents.putAnswer ?? HTTPResponse(status: 200, body: body)
        }
    }
}
