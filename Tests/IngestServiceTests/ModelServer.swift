import IngestAPI

/// What the contract says of batches, written down a second time and as simply as can be.
struct ModelServer {
    struct Key: Hashable {
        var device: String
        var ring: String
        var type: APISampleType
        var seq: UInt32
    }

    var current: [Key: APISample] = [:]
    var beside: Set<[String]> = []
    var completeThrough: [String: UInt32] = [:]

    mutating func store(_ batch: SampleBatch) -> BatchAnswer {
        var answer = BatchAnswer(syncID: batch.syncID)
        for (index, sample) in batch.samples.enumerated() {
            let key = Key(device: batch.deviceID, ring: batch.ring, type: sample.type, seq: sample.seq)
            guard let known = current[key] else {
                current[key] = sample
                if sample.person == .unchanged { current[key]?.person = .cleared }
                answer.accepted += 1
                continue
            }
            guard raw(known) == raw(sample) else {
                beside.insert(["\(key)"] + raw(sample).map { "\($0)" })
                answer.conflicts.append(.init(index: index, type: sample.type.rawValue, seq: sample.seq))
                continue
            }
            if sample.version > known.version {
                answer.corrected += 1
                current[key] = replaced(known, sample)
                continue
            }
            answer.duplicates += 1
            if sample.version == known.version, bound(sample) < bound(known) {
                current[key] = replaced(known, sample)
            }
        }
        let ring = batch.deviceID + " " + batch.ring
        if let claim = batch.completeThrough {
            completeThrough[ring] = max(claim, completeThrough[ring] ?? 0)
        }
        for key in current.keys where key.device == batch.deviceID && key.ring == batch.ring {
            let name = key.type.rawValue
            answer.ackSeq[name] = max(key.seq, answer.ackSeq[name] ?? 0)
        }
        return answer
    }

    /// The samples of a device in the order of the contract.
    func samples(device: String) -> [StoredSample] {
        current.filter { $0.key.device == device }
            .map { StoredSample(deviceID: device, ring: $0.key.ring, sample: $0.value) }
            .sorted { left, right in
                let (a, b) = (left.sample, right.sample)
                if a.recordedAt != b.recordedAt { return a.recordedAt < b.recordedAt }
                if left.ring != right.ring { return left.ring < right.ring }
                if a.seq != b.seq { return a.seq < b.seq }
                let order: [APISampleType] = [.heartRate, .steps, .spo2, .sleepStage]
                return (order.firstIndex(of: a.type) ?? 0) < (order.firstIndex(of: b.type) ?? 0)
            }
    }

    func counts(device: String) -> [String: Int] {
        current.keys.filter { $0.device == device }.reduce(into: [:]) {
            $0[$1.type.rawValue, default: 0] += 1
        }
    }

    private func raw(_ sample: APISample) -> [Int64] {
        [Int64(sample.value), sample.bandTimeMilliseconds, Int64(sample.clockID), Int64(sample.flags)]
    }

    private func bound(_ sample: APISample) -> Int {
        sample.timeUncertain ? .max : sample.timeBoundMilliseconds ?? .max - 1
    }

    private func replaced(_ known: APISample, _ sample: APISample) -> APISample {
        var merged = sample
        merged.provenance = known.provenance
        if sample.person == .unchanged { merged.person = known.person }
        return merged
    }
}
