extension InvocationParser {
    mutating func upload() throws(UsageError) -> UploadCommand {
        switch takeWord() {
        case "status": return .status
        case "now": return .now(wait: try wait())
        case "pause": return .pause(for: try pauseTime())
        case "resume": return .resume
        case "retry": return .retry(band: takeWord())
        case nil:
            throw UsageError(
                message: "say upload status, now, pause, resume or retry", command: "upload")
        case let word?:
            throw UsageError(
                message: "there is no 'upload \(word)'; there are status, now, pause, resume and retry",
                command: "upload")
        }
    }

    private mutating func wait() throws(UsageError) -> Int {
        guard let text = takeValue("wait") else { return 60 }
        if text == "0" { return 0 }
        guard let seconds = Int(text) ?? DurationArgument.seconds(text), (0...3_600).contains(seconds) else {
            throw UsageError(
                message: "--wait is a time of at most an hour, such as 30s or 5m, not '\(text)'",
                command: "upload")
        }
        return seconds
    }

    private mutating func pauseTime() throws(UsageError) -> Int? {
        guard let text = takeValue("for") else { return nil }
        guard let seconds = DurationArgument.seconds(text) else {
            throw UsageError(
                message: "--for is a time such as 45m, 2h, 1h30m or 3d, a year at most, not '\(text)'",
                command: "upload")
        }
        return seconds
    }
}
