import BandProfile

extension InvocationParser {
    /// Ten years of days are as much as anybody reads.
    private static let dayRange = 1...3660

    mutating func trends() throws(UsageError) -> TrendsRequest {
        var request = TrendsRequest(byHour: takeSwitch("hours"), zone: takeValue("tz"))
        if let text = takeValue("days") {
            guard let days = Int(text), Self.dayRange.contains(days) else {
                throw UsageError(
                    message: "--days is a number from 1 to \(Self.dayRange.upperBound), not '\(text)'",
                    command: "trends")
            }
            request.days = days
        }
        if let text = takeValue("type") {
            guard let type = SampleType(name: text) else {
                let names = SampleType.allCases.map(\.name).joined(separator: ", ")
                throw UsageError(message: "--type is one of \(names), not '\(text)'", command: "trends")
            }
            request.types = [type]
        }
        switch (takeValue("person"), try oneBand(for: "trends")) {
        case (nil, nil): break
        case (let person?, nil): request.subject = .person(person)
        case (nil, let device?): request.subject = .band(device)
        case (_?, _?):
            throw UsageError(
                message:
                    "say --person or name a band, not both: a person's days are those of every band they wore",
                command: "trends")
        }
        return request
    }
}
