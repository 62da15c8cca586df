import BandModel
import BandProfile

/// What tests read of bands: a JSON line for every ack, and one for every record ever measured and every loss.
public enum BandRecords {
    /// The truth about one band, line by line.
    public static func writeTruth(
        of band: SimulatedBand, address: BluetoothAddress, _ line: (String) -> Void
    ) {
        band.forEachRecorded { line(text($0, address)) }
        for loss in band.losses {
            line(
                "{\"kind\":\"loss\",\"band\":\"\(address)\",\"ring\":\"\(RingID(rawValue: loss.ring))\","
                    + "\"generation\":\(loss.generation),\"first_seq\":\(loss.firstSeq),"
                    + "\"last_seq\":\(loss.lastSeq),\"cause\":\"\(loss.cause.rawValue)\"}")
        }
    }

    /// The truth about every band of a state directory, to standard output.
    public static func printTruth(stateDirectory: String) throws {
        for address in try BandFile.addresses(in: stateDirectory) {
            guard let stored = try BandFile(directory: stateDirectory, address: address).load() else {
                continue
            }
            writeTruth(of: stored.band, address: address) { print($0) }
        }
    }

    /// The bands of a state directory, as they are stored.
    public static func bands(
        stateDirectory: String
    ) throws -> [(address: BluetoothAddress, band: SimulatedBand)] {
        try BandFile.addresses(in: stateDirectory).compactMap { address in
            try BandFile(directory: stateDirectory, address: address).load().map { (address, $0.band) }
        }
    }

    private static func text(_ sample: RecordedSample, _ address: BluetoothAddress) -> String {
        let record = sample.record
        let type = SampleType(rawValue: record.type).map { "\"\($0.name)\"" } ?? "null"
        let fault = record.contentFault.map { "\"\($0.rawValue)\"" } ?? "null"
        let offset = record.offsetMinutes.map(String.init) ?? "null"
        return "{\"kind\":\"record\",\"band\":\"\(address)\",\"ring\":\"\(sample.ring)\","
            + "\"generation\":\(sample.generation),\"seq\":\(record.seq),\"type\":\(type),"
            + "\"value\":\(record.value),\"band_time_ms\":\(record.bandTimeMilliseconds),"
            + "\"clock_id\":\(sample.clockID),\"true_ms\":\(sample.trueMilliseconds),"
            + "\"tz_offset_min\":\(offset),\"flags\":\(record.flags),\"fault\":\(fault)}"
    }

    static func ack(
        _ outcome: AckOutcome, _ bytes: [UInt8], band: SimulatedBand, address: BluetoothAddress, host: Int
    ) -> String {
        let seq = Ack.decode(bytes).map(String.init) ?? "null"
        let result =
            switch outcome {
            case .honoured(let freed): "\"honoured\",\"freed\":\(freed)"
            case .ignored: "\"ignored\",\"freed\":0"
            case .lost: "\"lost\",\"freed\":0"
            case .malformed: "\"malformed\",\"freed\":0"
            }
        return "{\"monotonic_ns\":\(SystemClock.monotonicNanoseconds),\"band\":\"\(address)\","
            + "\"ring\":\"\(band.ring)\",\"seq\":\(seq),\"outcome\":\(result),\"ever_sent\":\(band.everSent),"
            + "\"host\":\(host)}"
    }
}
