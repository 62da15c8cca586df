import BandProfile

extension Sequence where Element == BandStatus {
    /// The band that a person means: by device id, else by address, else by a name that only one of them has.
    public func band(called text: String) -> BandStatus? {
        if let band = first(where: { $0.device.text == text }) { return band }
        if let address = BluetoothAddress(text) { return first { $0.address == address } }
        let named = bands(named: text)
        return named.count == 1 ? named.first : nil
    }

    /// Those that were forgotten count only where no other has the name.
    private func bands(named name: String) -> [BandStatus] {
        let named = filter { $0.name == name }
        let adopted = named.filter(\.adopted)
        return adopted.isEmpty ? named : adopted
    }

    /// Who has the name already, of those that were not forgotten.
    public func owner(ofName name: String, besides address: BluetoothAddress) -> BandStatus? {
        first { $0.adopted && $0.name == name && $0.address != address }
    }

    /// Why `band(called:)` found none.
    public func refusal(of text: String) -> String {
        let named = bands(named: text)
        guard named.count < 2 else {
            let addresses = named.map(\.address.description).joined(separator: ", ")
            return "\(named.count) bands are called '\(text)'.\nWhat to do: use an address: \(addresses)."
        }
        let known = map { band in band.device.text + (band.name.map { " (\($0))" } ?? "") }
        return "There is no device '\(text)' here.\n"
            + "Known: \(known.isEmpty ? "none yet" : known.joined(separator: ", "))."
    }
}

extension Collection where Element == Person {
    /// The person who is meant: by id, else by name.
    public func person(called text: String) -> Person? {
        first { $0.id.text == text } ?? first { $0.name == text }
    }
}
