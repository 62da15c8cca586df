import IngestAPI

/// What a request for a band's lease came to.
public enum LeaseDecision: Equatable, Sendable {
    /// Nil in it = nobody holds it.
    case granted(LeaseAnswer)
    case held(holder: String, until: APITime)
}

extension StatusTable {
    /// Judges the answer to `PUT` or `DELETE /v1/devices/{device_id}/lease`.
    public static func decideLease(
        _ outcome: AttemptOutcome, wallTime: APITime
    ) -> (decision: UploadDecision, value: LeaseDecision?) {
        if case .answered(let answer) = outcome {
            if answer.status == APIErrorCode.leaseHeld.status,
                let body = try? APIJSON.decode(LeaseHeldBody.self, from: answer.body),
                body.error.code == APIErrorCode.leaseHeld.rawValue, IngestAPI.isOpaqueID(body.holder)
            {
                return (.taken, .held(holder: body.holder, until: body.expiresAt))
            }
            // A server from before there were leases: that is no trouble of the network.
            if let error = try? APIJSON.decode(ErrorBody.self, from: answer.body).error,
                let code = APIErrorCode(rawValue: error.code), code.status == answer.status,
                code == .notFound || code == .methodNotAllowed
            {
                return (.passOver(Refusal(code: error.code, message: "")), nil)
            }
        }
        return decideReading(outcome, wallTime: wallTime) {
            guard let answer = try? APIJSON.decode(LeaseAnswer.self, from: $0),
                answer.holder.map({ IngestAPI.isOpaqueID($0) }) ?? true
            else { return nil }
            return .granted(answer)
        }
    }

    /// Judges the answer to `GET /v1/devices`.
    public static func decideDevices(
        _ outcome: AttemptOutcome, wallTime: APITime
    ) -> (decision: UploadDecision, value: [DeviceState]?) {
        decideReading(outcome, wallTime: wallTime) { try? APIJSON.decode(DeviceList.self, from: $0).devices }
    }

    /// Judges the answer to `GET /v1/devices/{device_id}/gaps`.
    public static func decideGaps(
        _ outcome: AttemptOutcome, wallTime: APITime
    ) -> (decision: UploadDecision, value: [APIGap]?) {
        decideReading(outcome, wallTime: wallTime) { try? APIJSON.decode(GapList.self, from: $0).gaps }
    }
}
