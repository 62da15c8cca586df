import GatewayBus
import GatewayModel
import Store
import Uplink
import UploadDecisions

/// What people ask of the upload.
extension RunningGateway {
    func uploadStatus() async throws -> UploadStatus {
        try await storing {
            var status = UploadStatus(state: .off, url: uploadURL)
            let record = try await store.uploadRecord()
            status.pause = record.pause.flatMap { $0.isOver(at: wall()) ? nil : $0 }
            status.bands = try await store.uploadBands()
            status.pending = status.bands.reduce(0) { $0 + $1.pending }
            status.lastSuccess = record.lastSuccess
            status.lastErrorCode = record.lastErrorCode
            status.lastErrorAt = record.lastErrorAt
            guard let snapshot = uploader?.snapshot else { return status }
            status.take(snapshot)
            return status
        }
    }

    func uploadNow(wait: Duration) async throws -> UploadReport {
        var report = try await server().uploadNow(deadline: wait)
        if wait <= .zero {
            // What was wrong before says nothing of what begins now; a pause does.
            let pause = try await storing { try await store.uploadRecord().pause }
            report.problem = pause.flatMap { $0.isOver(at: wall()) ? nil : $0.problem }
        }
        haveChanged()
        return report
    }

    func pauseUpload(for time: Duration?) async throws -> UploadPause {
        let server = try server()
        let now = wall()
        let pause = UploadPause(
            since: now,
            until: time.map { Timestamp(milliseconds: now.milliseconds + Int64($0 / .milliseconds(1))) })
        try await storing { try await store.setUploadPause(pause) }
        log.notice("the upload is paused", [("for_s", .count(time?.components.seconds ?? 0))])
        server.pauseChanged()
        haveChanged()
        return pause
    }

    func resumeUpload() async throws {
        let server = try server()
        try await storing { try await store.setUploadPause(nil) }
        log.notice("the upload goes on")
        server.pauseChanged()
        haveChanged()
    }

    func retryUpload(_ band: String?) async throws -> Int {
        let server = try server()
        var device: DeviceID?
        if let band { device = try await self.device(called: band) }
        do {
            let count = try await server.retryRefused(device)
            log.notice("what the server refused goes up again", [("count", .count(count))])
            haveChanged()
            return count
        } catch {
            throw CommandFailure(error)
        }
    }

    // MARK: helpers

    func server() throws(CommandFailure) -> Uploader {
        guard let uploader else {
            throw CommandFailure(
                .notReady,
                "No server is configured: nothing is uploaded. Write its url and token_file under [upload] in "
                    + "\(configurationFile) and restart the daemon.")
        }
        return uploader
    }

    /// By device id, address or name.
    func device(called name: String) async throws -> DeviceID {
        try await storing {
            let bands = try await store.bandStatuses()
            guard let band = bands.band(called: name) else {
                throw CommandFailure(.notFound, bands.refusal(of: name))
            }
            return band.device
        }
    }

    func storing<Value: Sendable>(_ body: () async throws -> Value) async throws -> Value {
        do {
            return try await body()
        } catch let error as StoreError {
            let problem = error.problem
            throw CommandFailure(.notReady, "\(problem.text) \(problem.remedy)")
        }
    }
}

extension UploadStatus {
    /// What only the running upload knows.
    mutating func take(_ snapshot: UploadSnapshot) {
        switch snapshot.state {
        case .off: state = .off
        case .stopped: state = .stopped
        case .sending: state = .sending
        case .waiting: state = .waiting
        }
        if pause != nil, state != .sending { state = .paused }
        inFlight = snapshot.inFlight
        waitsUntil = snapshot.waitsUntil
        switch snapshot.meteredWait {
        case .hours(let until): metered = .hours(until: until)
        case .connection: metered = .connection
        case nil: metered = nil
        }
        problem = snapshot.problem ?? snapshot.leaseProblem
        lastSuccess = snapshot.lastSuccess ?? lastSuccess
        if let code = snapshot.lastErrorCode {
            lastErrorCode = code
            lastErrorAt = snapshot.lastErrorAt
        }
    }
}

extension CommandFailure {
    init(_ problem: UploadProblem) {
        self.init(.notReady, "\(problem.text) \(problem.remedy)")
    }
}
