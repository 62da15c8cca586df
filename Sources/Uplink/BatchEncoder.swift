import BandProfile
import GatewayModel
import IngestAPI

/// Writes the body of `POST /v1/samples:batch` straight to bytes. Ingest API 1.
///
/// Every text in it but the id of a person is a name of ours, a device id or a time, so that nothing else needs
/// escaping.
struct BatchEncoder {
    private(set) var bytes: [UInt8] = []

    /// Bytes of a usual sample; only a size hint.
    private static let sampleBytes = 240

    static func encode(
        device: DeviceID, ring: RingID, syncID: String, completeThrough: UInt32?, samples: ArraySlice<Sample>
    ) -> [UInt8] {
        var encoder = BatchEncoder()
        encoder.bytes.reserveCapacity(256 + samples.count * sampleBytes)
        encoder.add(#"{"device_id":""#, device.text, #"","ring":""#, ring.description)
        encoder.add(#"","sync_id":""#, syncID)
        encoder.add(#"","sample_count":"#, samples.count)
        if let completeThrough { encoder.add(#","complete_through":"#, completeThrough) }
        encoder.add(#","samples":["#)
        for sample in samples {
            if encoder.bytes.last == UInt8(ascii: "}") { encoder.add(",") }
            encoder.add(sample)
        }
        encoder.add("]}")
        return encoder.bytes
    }

    private mutating func add(_ sample: Sample) {
        add(#"{"type":""#, sample.type.name)
        add(#"","seq":"#, sample.seq)
        add(#","value":"#, sample.value)
        add(#","recorded_at":""#, APITime(milliseconds: sample.recordedAt.milliseconds).description)
        add(#"","tz_offset_min":"#)
        if let offset = sample.offsetMinutes { add("", offset) } else { add("null") }
        add(#","version":"#, sample.version)
        add(#","provenance":""#, sample.provenance.name)
        add(#"","band_time_ms":"#, sample.bandTimeMilliseconds)
        add(#","clock_id":"#, sample.clockID)
        add(#","flags":"#, sample.flags)
        if let bound = sample.timeBoundMilliseconds { add(#","time_bound_ms":"#, bound) }
        if sample.timeUncertain { add(#","time_uncertain":true"#) }
        switch sample.wearer {
        // Absent = unchanged: another gateway may have said who it was.
        case .unsaid: break
        case .nobody: add(#","person":null"#)
        case .person(let person):
            add(#","person":""#)
            addEscaped(person)
            add("\"")
        }
        add("}")
    }

    /// A `PersonID` is printable ASCII: of that a JSON string escapes two characters (RFC 8259, section 7).
    private mutating func addEscaped(_ person: PersonID) {
        for byte in person.text.utf8 {
            if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { bytes.append(UInt8(ascii: "\\")) }
            bytes.append(byte)
        }
    }

    private mutating func add(_ texts: String...) {
        for text in texts { bytes.append(contentsOf: text.utf8) }
    }

    private mutating func add(_ text: String, _ number: some BinaryInteger) {
        bytes.append(contentsOf: text.utf8)
        bytes.append(contentsOf: String(number).utf8)
    }
}
