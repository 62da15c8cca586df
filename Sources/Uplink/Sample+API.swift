import BandProfile
import GatewayModel
import IngestAPI

extension Sample {
    /// A sample as the server has it; nil for names and a version that can't be kept here.
    init?(_ stored: StoredSample) {
        let sample = stored.sample
        guard let device = DeviceID(stored.deviceID), let ring = RingID(stored.ring),
            // A version above it has to exist.
            sample.version <= APISample.validVersions.upperBound / 2
        else { return nil }
        let wearer: Wearer
        switch sample.person {
        case .unchanged, .cleared: wearer = .nobody
        case .assigned(let id):
            guard let person = PersonID(id.text) else { return nil }
            wearer = .person(person)
        }
        self.init(
            device: device, ring: ring, type: SampleType(sample.type), seq: sample.seq, value: sample.value,
            recordedAt: Timestamp(milliseconds: sample.recordedAt.milliseconds),
            offsetMinutes: sample.tzOffsetMinutes, version: sample.version,
            provenance: Provenance(sample.provenance),
            bandTimeMilliseconds: sample.bandTimeMilliseconds, clockID: sample.clockID, flags: sample.flags,
            timeUncertain: sample.timeUncertain, timeBoundMilliseconds: sample.timeBoundMilliseconds,
            wearer: wearer)
    }
}

extension SampleType {
    init(_ type: APISampleType) {
        switch type {
        case .heartRate: self = .heartRate
        case .steps: self = .steps
        case .spo2: self = .spo2
        case .sleepStage: self = .sleepStage
        }
    }
}

extension Provenance {
    fileprivate init(_ provenance: APIProvenance) {
        switch provenance {
        case .device: self = .device
        case .user: self = .user
        case .unknown: self = .unknown
        }
    }
}
