import BandProfile
import GatewayModel
import Store

@testable import Uplink

extension FakeOutbox: CommandOutbox {
    func record() throws -> UploadRecord { try read { $0.record } }

    func endPause(_ pause: UploadPause) throws {
        try write { if $0.record.pause == pause { $0.record.pause = nil } }
    }

    func noteError(_ code: String, at time: Timestamp) throws {
        try write {
            $0.record.lastErrorCode = code
            $0.record.lastErrorAt = time
            $0.errorsNoted += 1
        }
    }

    func releaseRefused(_ device: DeviceID?) throws -> Int {
        var count = 0
        try write { contents in
            for (key, row) in contents.rows {
                guard case .quarantined = row.state, device == nil || key.device == device else { continue }
                contents.rows[key]?.state = .pending
                count += 1
            }
        }
        return count
    }

    func leasedBands() throws -> [LeasedBand] { try read { $0.leased } }

    func noteLease(_ lease: BandLease?, of device: DeviceID) throws {
        try write { contents in
            guard let index = contents.leased.firstIndex(where: { $0.device == device }) else { return }
            contents.leased[index].lease = lease
        }
    }

    func gatewayID() throws -> String { "gw_ours" }

    func keptFrom() throws -> Int64? { nil }

    func days(of device: DeviceID) throws -> [Int64] {
        try read { contents in
            Set(contents.rows.filter { $0.key.device == device }.map { Self.day($0.value.sample) }).sorted()
        }
    }

    func storedDay(_ day: Int64, of device: DeviceID) throws -> [StoredPart] {
        try read { contents in
            var parts: [SampleType: StoredPart] = [:]
            for (key, row) in contents.rows.sorted(by: { $0.key < $1.key })
            where key.device == device && Self.day(row.sample) == day {
                let sample = row.sample
                var part = parts[sample.type] ?? StoredPart(ring: sample.ring, type: sample.type)
                switch row.state {
                case .pending: part.waiting += 1
                case .held, .quarantined: part.kept += 1
                case .confirmed:
                    part.seqs.append(sample.seq)
                    part.times.append(sample.recordedAt.milliseconds)
                }
                parts[sample.type] = part
            }
            return parts.values.sorted { $0.type.rawValue < $1.type.rawValue }
        }
    }

    func stored(
        _ seqs: [UInt32], _ type: SampleType, in ring: RingID, of device: DeviceID
    ) throws -> Set<UInt32> {
        try read { contents in
            Set(seqs.filter { contents.rows[Key(device: device, seq: $0)]?.sample.type == type })
        }
    }

    func hasStored(
        _ seqs: ClosedRange<UInt32>, _ type: SampleType, in ring: RingID, of device: DeviceID
    ) throws -> Bool {
        try read { contents in
            contents.rows.contains {
                $0.key.device == device && seqs.contains($0.key.seq) && $0.value.sample.type == type
            }
        }
    }

    func openGaps(of device: DeviceID) throws -> [RingID: [ClosedRange<UInt32>]] {
        try read { contents in
            contents.openGaps.isEmpty || !contents.devicesWithGaps.contains(device)
                ? [:] : [ring: contents.openGaps]
        }
    }

    func heal(_ seqs: [UInt32], in ring: RingID, of device: DeviceID) throws {
        try write { $0.healed += seqs }
    }

    func markUnconfirmed(_ seqs: [UInt32], in ring: RingID, of device: DeviceID) throws {
        try write { contents in
            for seq in seqs { contents.rows[Key(device: device, seq: seq)]?.state = .pending }
        }
    }

    private static func day(_ sample: Sample) -> Int64 { sample.recordedAt.milliseconds / 86_400_000 }
}
