import IngestAPI

/// Samples of one ring, as they are stored, while a batch is taken in.
public struct ChunkMerge: Sendable {
    /// What became of one incoming sample.
    public enum Outcome: Equatable, Sendable {
        case accepted
        /// Known, and nothing newer; or its content has expired.
        case duplicate
        /// Its derived fields are current now in place of `old`. Counts as a duplicate, or as corrected.
        case replaced(old: APISample, counts: Counting)
        /// Differs in what the band gave: to be kept beside the first.
        case conflict

        public enum Counting: Equatable, Sendable {
            case asDuplicate
            case asCorrected
        }
    }

    /// In no order.
    public private(set) var samples: [APISample]
    public private(set) var isChanged = false
    private var places: [UInt64: Int] = [:]
    private let expired: ExpiredKeys

    public init(stored: [APISample], expired: ExpiredKeys = ExpiredKeys()) {
        samples = stored
        self.expired = expired
        places.reserveCapacity(stored.count + IngestAPI.maxSamplesPerBatch)
        for (index, sample) in stored.enumerated() { places[sample.chunkKey] = index }
    }

    public mutating func take(_ sample: APISample) -> Outcome {
        guard let place = places[sample.chunkKey] else {
            guard !expired.contains(sample.type, sample.seq) else { return .duplicate }
            var sample = sample
            if sample.person == .unchanged { sample.person = .cleared }
            places[sample.chunkKey] = samples.count
            samples.append(sample)
            isChanged = true
            return .accepted
        }
        let known = samples[place]
        switch KeyRule(known: known, incoming: sample) {
        case .duplicate: return .duplicate
        case .conflict: return .conflict
        case .refined: return replace(at: place, by: sample, counts: .asDuplicate)
        case .corrected: return replace(at: place, by: sample, counts: .asCorrected)
        }
    }

    private mutating func replace(at place: Int, by sample: APISample, counts: Outcome.Counting) -> Outcome {
        let known = samples[place]
        samples[place] = known.derived(from: sample)
        isChanged = true
        return .replaced(old: known, counts: counts)
    }
}
