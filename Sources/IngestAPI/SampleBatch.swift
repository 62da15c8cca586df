/// The body of `POST /v1/samples:batch` as a gateway writes it.
public struct SampleBatch: Equatable, Sendable {
    public var deviceID: String
    public var ring: String
    /// A retry keeps it only with identical content.
    public var syncID: String
    /// Every record of the ring up to here is in this or an earlier confirmed batch, or in the gaps.
    public var completeThrough: UInt32?
    public var samples: [APISample]

    public init(
        deviceID: String, ring: String, syncID: String, completeThrough: UInt32? = nil, samples: [APISample]
    ) {
        self.deviceID = deviceID
        self.ring = ring
        self.syncID = syncID
        self.completeThrough = completeThrough
        self.samples = samples
    }
}

enum BatchKey: String, CodingKey {
    case deviceID = "device_id"
    case ring
    case syncID = "sync_id"
    case sampleCount = "sample_count"
    case completeThrough = "complete_through"
    case samples
}

extension SampleBatch: Encodable {
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: BatchKey.self)
        try container.encode(deviceID, forKey: .deviceID)
        try container.encode(ring, forKey: .ring)
        try container.encode(syncID, forKey: .syncID)
        try container.encode(samples.count, forKey: .sampleCount)
        try container.encodeIfPresent(completeThrough, forKey: .completeThrough)
        try container.encode(samples, forKey: .samples)
    }
}

/// The same body as a server reads it: a sample that can't be taken does not spoil the others.
public struct ReceivedBatch: Equatable, Sendable {
    public var deviceID: String
    public var ring: String
    public var syncID: String
    public var completeThrough: UInt32?
    public var samples: [Result<APISample, SampleRejection>]

    public init(
        deviceID: String, ring: String, syncID: String, completeThrough: UInt32? = nil,
        samples: [Result<APISample, SampleRejection>]
    ) {
        self.deviceID = deviceID
        self.ring = ring
        self.syncID = syncID
        self.completeThrough = completeThrough
        self.samples = samples
    }

    /// Reads a body after decompression. The failure is the whole batch's: 400 or 413.
    public init(decoding body: [UInt8]) throws(APIFailure) {
        guard body.count <= IngestAPI.maxBatchBytes else { throw .batchTooLarge("the batch is over 1 MiB") }
        if let batch = BatchReader.read(body) {
            self = batch
        } else {
            self = try Self(judging: body)
        }
    }

    /// Reads any body, and says what is wrong with it. Of those that `readDirectly` reads it makes the same.
    package init(judging body: [UInt8]) throws(APIFailure) {
        self = try APIJSON.decode(ReceivedBatch.self, from: body)
    }

    /// Many times as fast; nil for a body that is not in the form that gateways send.
    package static func readDirectly(_ body: [UInt8]) -> ReceivedBatch? { BatchReader.read(body) }
}

extension ReceivedBatch: Decodable {
    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: BatchKey.self)
        deviceID = try container.decode(String.self, forKey: .deviceID)
        guard IngestAPI.isDeviceID(deviceID) else {
            throw APIFailure.malformed("device_id is not a device id")
        }
        ring = try container.decode(String.self, forKey: .ring)
        guard IngestAPI.isRing(ring) else {
            throw APIFailure.malformed("ring is not 8 lower-case hex digits")
        }
        syncID = try container.decode(String.self, forKey: .syncID)
        guard IngestAPI.isOpaqueID(syncID) else { throw APIFailure.malformed("sync_id is not an id") }
        completeThrough = try container.wholeIfPresent(forKey: .completeThrough)
        let declared: Int = try container.whole(forKey: .sampleCount)
        samples = try container.decode(TolerantSamples.self, forKey: .samples).results
        guard declared == samples.count else {
            throw APIFailure.malformed("sample_count is not the number of samples")
        }
    }
}

/// The array of samples, each taken or refused on its own.
private struct TolerantSamples: Decodable {
    var results: [Result<APISample, SampleRejection>] = []

    private struct Element: Decodable {
        let result: Result<APISample, SampleRejection>

        init(from decoder: any Decoder) throws {
            do {
                result = .success(try APISample(from: decoder))
            } catch let rejection as SampleRejection {
                result = .failure(rejection)
            } catch {
                result = .failure(SampleRejection(.badField, "the sample can't be read"))
            }
        }
    }

    init(from decoder: any Decoder) throws {
        var container = try decoder.unkeyedContainer()
        while !container.isAtEnd {
            guard results.count < IngestAPI.maxSamplesPerBatch else {
                throw APIFailure.batchTooLarge("the batch has over 500 samples")
            }
            // A `null` is not handed to the element's initializer.
            if try container.decodeNil() {
                results.append(.failure(SampleRejection(.badField, "the sample is null")))
            } else {
                results.append(try container.decode(Element.self).result)
            }
        }
    }
}
