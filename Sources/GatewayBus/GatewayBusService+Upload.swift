import DBus
import GatewayModel

/// The methods about the upload.
extension GatewayBusService {
    /// Longest wait and longest pause that can be asked for, seconds.
    private static let longestWait = 3_600
    private static let longestPause = 366 * 86_400

    func serveUpload() {
        handle("UploadStatus") { service, _ in
            [.properties(try await service.commands.uploadStatus().properties)]
        }
        handle("UploadNow") { service, call in
            let wait = try seconds("Wait", in: call, upTo: Self.longestWait) ?? 60
            return [.properties(try await service.commands.uploadNow(wait: .seconds(wait)).properties)]
        }
        handle("PauseUpload") { service, call in
            let time = try seconds("For", in: call, upTo: Self.longestPause)
            let pause = try await service.commands.pauseUpload(for: time.map { .seconds($0) })
            return [.properties(pause.properties)]
        }
        handle("ResumeUpload") { service, _ in
            try await service.commands.resumeUpload()
            return []
        }
        handle("RetryUpload") { service, call in
            let count = try await service.commands.retryUpload(try anyBandName(call.text(0)))
            return [.uint64(UInt64(clamping: count))]
        }
    }
}

/// The one option of a call; nil when it is not given.
private func seconds(_ name: String, in call: MethodCall, upTo longest: Int) throws(CommandFailure) -> Int? {
    for (key, value) in call.options {
        guard key == name, case .uint32(let number) = value else { throw unknownOption(key) }
        guard number <= longest else {
            throw CommandFailure(.invalidArguments, "\(name) is a number of seconds up to \(longest)")
        }
        return Int(number)
    }
    return nil
}
