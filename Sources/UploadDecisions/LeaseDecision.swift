import IngestAPI

/// What a request for a band's lease came to.
public enum LeaseDecision: Equatable, Sendable {
    /// Nil in it = nobody holds it.
    case granted(LeaseAnswer)
    case held(holder: String, until: APITime)
    /// The server keeps no leases.
    case notKept
}

extension StatusTable {
    /// Judges the answer to `PUT` or `DELETE /v1/devices/{device_id}/lease`.
    ///
    /// - Parameter isAsked: it was asked for, so somebody holds it now.
    public static func decideLease(
        _ outcome: AttemptOutcome, isAsked: Bool, wallTime: APITime
    ) -> (decision: UploadDecision, value: LeaseDecision?) {
        if case .answered(let answer) = outcome {
            if answer.status == APIErrorCode.leaseHeld.status,
                let body = try? APIJSON.decode(LeaseHeldBody.self, from: answer.body),
                body.error.code == APIErrorCode.leaseHeld.rawValue, IngestAPI.isOpaqueID(body.holder)
            {
                return (.taken, .held(holder: body.holder, until: body.expiresAt))
            }
        }
        if let refusal = absence(outcome) { return (.passOver(refusal), .notKept) }
        return decideReading(outcome, wallTime: wallTime) { body in
            // An object of something else would be one that nobody holds.
            guard JSONObject.isOne(body, having: "holder"),
                let answer = try? APIJSON.decode(LeaseAnswer.self, from: body),
                answer.holder.map({ IngestAPI.isOpaqueID($0) }) ?? true,
                !isAsked || answer.holder != nil && answer.expiresAt != nil
            else { return nil }
            return .granted(answer)
        }
    }

    /// Judges the answer to a `DELETE` of this gateway's own lease. Who holds it then does not matter, and a lease that was
    /// not given back ends by itself.
    public static func decideLeaseReturn(_ outcome: AttemptOutcome, wallTime: APITime) -> UploadDecision {
        absence(outcome).map { .passOver($0) }
            ?? decidePut(outcome, wallTime: wallTime, shows: { _ in false }).decision
    }

    /// Of a server of this API that has no such request: that is no trouble of the network.
    static func absence(_ outcome: AttemptOutcome) -> Refusal? {
        guard case .answered(let answer) = outcome,
            let error = try? APIJSON.decode(ErrorBody.self, from: answer.body).error,
            let code = APIErrorCode(rawValue: error.code), code.status == answer.status,
            code == .notFound || code == .methodNotAllowed
        else { return nil }
        return Refusal(code: error.code, message: "")
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
