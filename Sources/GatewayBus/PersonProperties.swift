import DBus
import GatewayModel

extension AddPersonRequest {
    var options: BusProperties {
        var result: BusProperties = [:]
        result["ID"] = id.map { .string($0.text) }
        if sharesName { result["ShareName"] = .bool(true) }
        return result
    }

    /// What a caller sent, judged.
    init(name: String, options: BusProperties) throws(CommandFailure) {
        guard isName(name) else {
            throw CommandFailure(
                .invalidArguments, "not a person's name; write 1 to 64 characters, no blank at either end")
        }
        self.init(name: name)
        for (key, value) in options {
            switch (key, value) {
            case ("ID", .string(let text)):
                guard let id = PersonID(text) else {
                    throw CommandFailure(
                        .invalidArguments,
                        "not a person's id; write 1 to 128 letters, digits or signs, without blanks and /")
                }
                self.id = id
            case ("ShareName", .bool(let shares)): sharesName = shares
            default: throw unknownOption(key)
            }
        }
    }
}

extension AssignRequest {
    var options: BusProperties { to.map { ["To": $0.bus] } ?? [:] }

    /// What a caller sent, judged; whether there are such a band and person is for the gateway to say.
    init(band: String, person: String, from: BusValue?, options: BusProperties) throws(CommandFailure) {
        self.init(
            band: try bandName(band), person: try personName(person), from: try moment(from))
        for (key, value) in options {
            guard key == "To" else { throw unknownOption(key) }
            to = try moment(value)
        }
    }
}

// MARK: values that more than one method takes

/// What can be shown on one line and found again by eye.
private func isName(_ text: String) -> Bool {
    (1...64).contains(text.count) && !text.unicodeScalars.contains { $0.value < 0x20 || $0.value == 0x7f }
        && text.first != " " && text.last != " "
}

/// An address, a device id or a name.
func bandName(_ text: String) throws(CommandFailure) -> String {
    guard isName(text) || DeviceID(text) != nil else {
        throw CommandFailure(.invalidArguments, "not a band; write an address, a device id or a name")
    }
    return text
}

/// Nil for an empty text, which stands for every band.
func anyBandName(_ text: String) throws(CommandFailure) -> String? {
    text.isEmpty ? nil : try bandName(text)
}

/// A name or an id.
func personName(_ text: String) throws(CommandFailure) -> String {
    guard isName(text) || PersonID(text) != nil else {
        throw CommandFailure(.invalidArguments, "not a person; write a name or an id")
    }
    return text
}

/// The times that RFC 3339 can say, from 1970 on.
func moment(_ value: BusValue?) throws(CommandFailure) -> Timestamp {
    guard case .int64(let milliseconds) = value, (0...253_402_300_799_999).contains(milliseconds) else {
        throw CommandFailure(
            .invalidArguments, "not a time; give milliseconds since 1970, as int64, before the year 10000")
    }
    return Timestamp(milliseconds: milliseconds)
}

func unknownOption(_ key: String) -> CommandFailure {
    CommandFailure(.invalidArguments, "unknown option or wrong type: \(key.prefix(40))")
}
