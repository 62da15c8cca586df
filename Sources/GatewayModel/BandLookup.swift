import BandProfile

extension Sequence where Element == BandStatus {
    /// The band that a person means: by device id, else by address, else by a name that only one of them has.
    public func band(called text: String) -> BandStatus? {
        if let band = first(where: { $0.device.text == text }) { return band }
        if let address = BluetoothAddress(text) { return first { $0.address == address } }
        let named = filter { $0.name == text }
        return named.count == 1 ? named.first : nil
    }
}

extension Collection where Element == Person {
    /// The person who is meant: by id, else by name.
    public func person(called text: String) -> Person? {
        first { $0.id.text == text } ?? first { $0.name == text }
    }
}
