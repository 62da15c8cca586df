import BandProfile
import BlueZModel

/// Everything that a band sends, and the names by which it is known.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzBand(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let kind = input.below(6)
    let bytes = input.rest()
    switch kind {
    case 0:
        guard let value = try? HistoryNotification(decoding: bytes) else { return 0 }
        require(value.encoded == bytes, "what a notification is read as is what it says")
        if case .samples(_, let records) = value {
            require((1...15).contains(records.count), "a notification has 1 to 15 records")
            for (before, after) in zip(records, records.dropFirst()) {
                require(after.seq - before.seq == 1, "records are consecutive")
            }
            for record in records {
                _ = (record.contentFault, record.offsetMinutes, record.bandTimeMilliseconds)
            }
        }
    case 1:
        guard let value = try? RingInfo(decoding: bytes) else { return 0 }
        require((try? RingInfo(decoding: value.encoded)) == value, "Info comes back as it was")
        require(value.ring.rawValue != 0 && value.oldestSeq >= 1, "ring 0 and seq 0 do not exist")
    case 2:
        guard let value = try? BandClock(decoding: bytes) else { return 0 }
        require((try? BandClock(decoding: value.encoded)) == value, "Clock comes back as it was")
    case 3:
        guard let value = try? ControlPointCommand(decoding: bytes) else { return 0 }
        require(value.encoded == bytes, "a command comes back as it was")
    case 4:
        guard let seq = Ack.decode(bytes) else { return 0 }
        require(Ack.encode(seq) == bytes, "an ack comes back as it was")
    default:
        let text = String(decoding: bytes, as: UTF8.self)
        if let address = BluetoothAddress(text) {
            require(BluetoothAddress("\(address)") == address, "an address comes back as it was")
        }
        if let ring = RingID(text) { require("\(ring)" == text, "a ring id comes back as it was") }
        if let path = BlueZPath(text) { require(BlueZPath("\(path)") == path, "a path comes back as it was") }
    }
    return 0
}
