import IngestAPI
import SampleChunks
import Trends

/// Samples of one device that trends take, kept while its days are computed: types and wearers need the same ones.
final class DeviceSamples {
    let device: DeviceKey
    let session: any SQLSession

    fileprivate struct Worn {
        let sample: TrendSample
        let person: OpaqueID?
    }

    /// What is kept: all samples of these instants, by type in the order that trends take them.
    private var kept: Range<Int64> = 0..<0
    private var samples: [APISampleType: [Worn]] = [:]
    /// Whoever had a sample of a type that was ever kept.
    private var wearers: [APISampleType: Set<OpaqueID?>] = [:]
    private var gaps: [TrendGap]?

    /// More than so many are not kept for the next question.
    private static let most = 100_000

    init(_ device: DeviceKey, _ session: any SQLSession) {
        self.device = device
        self.session = session
    }

    /// In the order that trends take them: by time, ring and seq. Nil = whoever wore the band.
    func samples(
        _ type: APISampleType, of person: OpaqueID?, _ instants: Range<Int64>
    ) throws(StorageFailure) -> [TrendSample] {
        try keep(instants)
        let all = samples[type] ?? []
        let part = all[all.firstIndex(from: instants.lowerBound)..<all.firstIndex(from: instants.upperBound)]
        guard let person else { return part.map(\.sample) }
        return part.compactMap { $0.person == person ? $0.sample : nil }
    }

    /// Whoever has a sample of the type at these instants.
    func persons(_ type: APISampleType, _ instants: Range<Int64>) throws(StorageFailure) -> Set<OpaqueID> {
        try keep(instants)
        return Set((samples[type] ?? []).lazy.filter { instants.contains($0.at) }.compactMap(\.person))
    }

    /// To whom all samples of the type belong that were asked for so far.
    func onlyWearer(_ type: APISampleType) -> OpaqueID? {
        guard let wearers = wearers[type], wearers.count == 1 else { return nil }
        return wearers.first ?? nil
    }

    func gapsOfDevice() throws(StorageFailure) -> [TrendGap] {
        if let gaps { return gaps }
        let read = try GapRows.intervals(device, in: session)
        gaps = read
        return read
    }

    private func keep(_ instants: Range<Int64>) throws(StorageFailure) {
        guard !instants.isEmpty, kept.clamped(to: instants) != instants else { return }
        let isNear = instants.lowerBound <= kept.upperBound && kept.lowerBound <= instants.upperBound
        guard isNear, !kept.isEmpty, samples.values.reduce(0, { $0 + $1.count }) < Self.most else {
            samples = try read(instants)
            kept = instants
            return
        }
        if instants.lowerBound < kept.lowerBound {
            let earlier = try read(instants.lowerBound..<kept.lowerBound)
            samples.merge(earlier) { $1 + $0 }
            kept = instants.lowerBound..<kept.upperBound
        }
        if kept.upperBound < instants.upperBound {
            let later = try read(kept.upperBound..<instants.upperBound)
            samples.merge(later) { $0 + $1 }
            kept = kept.lowerBound..<instants.upperBound
        }
    }

    private func read(_ instants: Range<Int64>) throws(StorageFailure) -> [APISampleType: [Worn]] {
        let rows = try session.rows(
            SQLCall(
                DeviceStatement.chunksBetween, device.value, .int(instants.lowerBound),
                .int(instants.upperBound)))
        var found: [APISampleType: [Worn]] = [:]
        for row in rows {
            // One type after the other, as they are in a chunk.
            for samples in try ChunkRows.samples(try row.bytes(1)).chunked(by: \.type) {
                let type = samples[samples.startIndex].type
                // Taken out, so that it is not copied.
                var list = found.removeValue(forKey: type) ?? []
                var seen = wearers[type] ?? []
                for sample in samples where instants.contains(sample.recordedAt.milliseconds) {
                    guard let place = TrendPlace(sample) else { continue }
                    if list.last.map({ $0.person != place.person }) ?? true { seen.insert(place.person) }
                    list.append(
                        Worn(
                            sample: TrendSample(
                                recordedAt: sample.recordedAt.milliseconds,
                                offsetMinutes: sample.tzOffsetMinutes, value: sample.value),
                            person: place.person))
                }
                found[type] = list.isEmpty ? nil : list
                wearers[type] = seen.isEmpty ? nil : seen
            }
        }
        return found.mapValues { $0.inOrderOfTime }
    }
}

extension DeviceSamples.Worn {
    fileprivate var at: Int64 { sample.recordedAt }
}

extension [DeviceSamples.Worn] {
    /// Stable: equal times stay in the order of ring and seq, in which chunks and their samples come.
    fileprivate var inOrderOfTime: Self {
        let isInOrder = zip(self, dropFirst()).allSatisfy { $0.at <= $1.at }
        guard !isInOrder else { return self }
        return enumerated().sorted { ($0.element.at, $0.offset) < ($1.element.at, $1.offset) }
            .map(\.element)
    }

    /// Of the first sample at this time or later.
    fileprivate func firstIndex(from time: Int64) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if self[middle].at < time { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

extension [APISample] {
    /// Neighbours with the same value together.
    fileprivate func chunked<Value: Equatable>(by value: (APISample) -> Value) -> [ArraySlice<APISample>] {
        var parts: [ArraySlice<APISample>] = []
        var begin = startIndex
        for index in indices.dropFirst() where value(self[index]) != value(self[index - 1]) {
            parts.append(self[begin..<index])
            begin = index
        }
        return isEmpty ? [] : parts + [self[begin..<endIndex]]
    }
}
