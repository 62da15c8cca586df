import BandProfile
import GatewayModel

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

    mutating func reconcile() throws(UsageError) -> Command {
        var days: Int?
        if let text = takeValue("days") {
            guard let number = Int(text), (1...36_600).contains(number) else {
                throw UsageError(
                    message: "--days is a number of days from 1 on, not '\(text)'", command: "reconcile")
            }
            days = number
        }
        return .reconcile(band: takeWord(), days: days, isDryRun: takeSwitch("dry-run"))
    }

    /// Nil = only the list.
    mutating func replace() throws(UsageError) -> ReplaceRequest? {
        var request = ReplaceRequest(
            bands: [], isEverything: takeSwitch("all"), isDryRun: takeSwitch("dry-run"),
            isForced: takeSwitch("force"))
        while let word = takeWord() { request.bands.append(word) }
        if let text = takeValue("address") {
            guard let address = BluetoothAddress(text) else {
                throw UsageError(
                    message: "--address: '\(text)' is none; write it as F0:F1:F2:F3:F4:F5", command: "replace"
                )
            }
            guard request.bands.count == 1 else {
                throw UsageError(message: "--address is for one band", command: "replace")
            }
            request.address = address
        }
        switch (request.bands.isEmpty, request.isEverything) {
        case (true, true), (false, false): return request
        case (false, true):
            throw UsageError(message: "name bands, or say --all, not both", command: "replace")
        case (true, false):
            guard !request.isDryRun, !request.isForced else {
                throw UsageError(message: "name the bands, or say --all", command: "replace")
            }
            return nil
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
