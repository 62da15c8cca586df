import GatewayModel
import Store

/// What people's commands need of the store on the upload thread.
protocol CommandOutbox: AnyObject {
    /// What people told the upload before, also before a restart.
    func record() throws -> UploadRecord
    /// Its time is over.
    func endPause(_ pause: UploadPause) throws
    func noteError(_ code: String, at time: Timestamp) throws
    /// What the server refused goes up again; nil = of every device. Returns how many samples.
    func releaseRefused(_ device: DeviceID?) throws -> Int
}

extension StoreOutbox {
    func record() throws -> UploadRecord { try outbox.record() }

    func endPause(_ pause: UploadPause) throws { try outbox.endPause(pause) }

    func noteError(_ code: String, at time: Timestamp) throws { try outbox.noteError(code, at: time) }

    func releaseRefused(_ device: DeviceID?) throws -> Int {
        try (device.map { [$0] } ?? outbox.devices()).reduce(0) {
            try $0 + outbox.releaseQuarantined($1)
        }
    }
}
