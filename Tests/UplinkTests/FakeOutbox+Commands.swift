import GatewayModel
import Store

@testable import Uplink

extension FakeOutbox: CommandOutbox {
    func record() throws -> UploadRecord { try read { $0.record } }

    func endPause(_ pause: UploadPause) throws {
        try write { if $0.record.pause == pause { $0.record.pause = nil } }
    }

    func noteError(_ code: String, at time: Timestamp) throws {
        try write {
            $0.record.lastErrorCode = code
            $0.record.lastErrorAt = time
            $0.errorsNoted += 1
        }
    }

    func releaseRefused(_ device: DeviceID?) throws -> Int {
        var count = 0
        try write { contents in
            for (key, row) in contents.rows {
                guard case .quarantined = row.state, device == nil || key.device == device else { continue }
                contents.rows[key]?.state = .pending
                count += 1
            }
        }
        return count
    }
}
