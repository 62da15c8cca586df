import GatewayModel
import IngestAPI
import UploadDecisions

/// Requests about who owns a band, and what a new gateway asks first.
extension UploadServer {
    /// Some 500 bytes a device.
    func devices(token: String) -> AttemptOutcome {
        send(.get, "/v1/devices", [], token: token, answerLimit: 16 << 20)
    }

    func gaps(of device: DeviceID, token: String) -> AttemptOutcome {
        send(.get, "/v1/devices/\(device.text)/gaps", [], token: token, answerLimit: 4 << 20)
    }

    func putLease(
        _ request: LeaseRequest, of device: DeviceID, token: String, within deadline: Duration? = nil
    ) -> AttemptOutcome {
        put("lease", request, of: device, token: token, within: deadline)
    }

    func deleteLease(of device: DeviceID, gateway: String, token: String) -> AttemptOutcome {
        let query = "gateway_id=\(PercentEncoding.encode(gateway))"
        return send(.delete, "/v1/devices/\(device.text)/lease?\(query)", [], token: token)
    }
}
