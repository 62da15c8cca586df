import IngestAPI

/// The table of statuses of ingest API 1: outcome in, decision out. Nothing else branches on a status.
public enum StatusTable {
    /// Judges the answer to a batch.
    public static func decide(_ outcome: AttemptOutcome, batch: SentBatch, wallTime: APITime)
        -> UploadDecision
    {
        let decision = decide(outcome, wallTime: wallTime) { answer in
            guard let body = try? APIJSON.decode(BatchAnswer.self, from: answer.body) else { return nil }
            guard let verdict = Confirmation.verdict(of: body, on: batch) else {
                return .backOff(.inconsistentAnswer, retryAfter: nil)
            }
            return .settle(verdict)
        } refused: { refusal in
            // One row, two ends: a refused batch is searched, a refused sample is set aside.
            batch.samples.count > 1 ? .halve(refusal) : .quarantine(refusal)
        } encodingRefused: {
            batch.isCompressed ? .sendIdentity : .backOff(.encodingRefused, retryAfter: nil)
        }
        // A batch makes its device known: this answer is in no row of the table.
        return decision == .unknownDevice ? .backOff(.notThisAPI(status: 404), retryAfter: nil) : decision
    }

    /// Judges the answer to a PUT of gaps, a status or a person. A refusal of it must not touch samples.
    ///
    /// Ingest API 1 says what is put, not what the answer to it holds: usually what is stored now. `isShown`: it holds what
    /// was put. Without that an answer is only one if it is empty or a JSON object, and what depends on the PUT has to be
    /// read back: a captive portal says 200 to everything.
    public static func decidePut(
        _ outcome: AttemptOutcome, wallTime: APITime, shows: ([UInt8]) -> Bool
    ) -> (decision: UploadDecision, isShown: Bool) {
        var isShown = false
        let decision = decide(outcome, wallTime: wallTime) { answer in
            isShown = shows(answer.body)
            let isPossible = isShown || answer.body.isEmpty || JSONObject.isOne(answer.body)
            return isPossible ? .taken : nil
        } refused: { refusal in
            .passOver(refusal)
        } encodingRefused: {
            .backOff(.encodingRefused, retryAfter: nil)
        }
        return (decision, isShown)
    }

    /// Judges the answer to `GET /v1/devices/{device_id}/gaps` after gaps were put: those that it has as they were put, and
    /// `taken` for a list.
    public static func decideGapsHeld(
        _ outcome: AttemptOutcome, _ gaps: [APIGap], wallTime: APITime
    ) -> (decision: UploadDecision, held: Set<GapKey>) {
        let (decision, known) = decideLedger(outcome, wallTime: wallTime)
        return (decision, known?.held(of: gaps) ?? [])
    }

    /// Judges the answer to `GET /v1/devices/{device_id}/gaps`, of which gaps with causes that are not known here are a part.
    /// `passOver`: it is never shown, and nothing waits for it.
    public static func decideLedger(
        _ outcome: AttemptOutcome, wallTime: APITime
    ) -> (decision: UploadDecision, value: [GapKey: ShownGap]?) {
        if absence(outcome) != nil { return (.passOver(.notStored), nil) }
        let (decision, gaps) = decideReading(outcome, wallTime: wallTime) { PutProof.shownGaps($0) }
        return (decision.asNotShown, gaps)
    }

    /// Judges the answer to `GET /v1/devices/{device_id}`; a state is only one if it is of the device asked for.
    public static func decideState(
        _ outcome: AttemptOutcome, device: String, wallTime: APITime
    ) -> (decision: UploadDecision, value: DeviceState?) {
        decideReading(outcome, wallTime: wallTime) { body in
            (try? APIJSON.decode(DeviceState.self, from: body)).flatMap { $0.deviceID == device ? $0 : nil }
        }
    }

    /// Judges the answer to `GET /v1/samples`. What can't be read of a page is left out.
    public static func decidePage(
        _ outcome: AttemptOutcome, wallTime: APITime
    ) -> (decision: UploadDecision, value: SamplesPage?) {
        decideReading(outcome, wallTime: wallTime) { try? APIJSON.decode(ReceivedPage.self, from: $0).page }
    }

    /// Judges the answer to `GET /v1/devices/{device_id}/ranges`.
    public static func decideRanges(
        _ outcome: AttemptOutcome, wallTime: APITime
    ) -> (decision: UploadDecision, value: [DayRange]?) {
        decideReading(outcome, wallTime: wallTime) { body in
            (try? APIJSON.decode(RangeList.self, from: body).ranges).flatMap { ranges in
                ranges.allSatisfy(\.isPossible) ? ranges : nil
            }
        }
    }

    /// Judges the answer to `GET /v1/persons/{person}`; taken without a record = nothing was put yet.
    public static func decidePerson(
        _ outcome: AttemptOutcome, wallTime: APITime
    ) -> (decision: UploadDecision, value: PersonRecord?) {
        if case .answered(let answer) = outcome, answer.status == APIErrorCode.notFound.status,
            let error = try? APIJSON.decode(ErrorBody.self, from: answer.body).error,
            APIErrorCode(rawValue: error.code)?.status == answer.status
        {
            return (.taken, nil)
        }
        return decideReading(outcome, wallTime: wallTime) { body in
            // One of nothing would be in any JSON object.
            JSONObject.isOne(body, having: "zones")
                ? try? APIJSON.decode(PersonRecord.self, from: body) : nil
        }
    }

    static func decideReading<Value>(
        _ outcome: AttemptOutcome, wallTime: APITime, _ read: ([UInt8]) -> Value?
    ) -> (decision: UploadDecision, value: Value?) {
        var value: Value?
        let decision = decide(outcome, wallTime: wallTime) { answer in
            value = read(answer.body)
            return value == nil ? nil : .taken
        } refused: { refusal in
            .passOver(refusal)
        } encodingRefused: {
            .backOff(.encodingRefused, retryAfter: nil)
        }
        return (decision, value)
    }

    // MARK: the rows

    private static func decide(
        _ outcome: AttemptOutcome, wallTime: APITime,
        success: (AttemptOutcome.Answer) -> UploadDecision?,
        refused: (Refusal) -> UploadDecision,
        encodingRefused: () -> UploadDecision
    ) -> UploadDecision {
        switch outcome {
        case .unanswered(.aborted):
            return .stop
        case .unanswered(let cause):
            return .backOff(.noAnswer(cause), retryAfter: nil)
        case .answered(let answer):
            let retryAfter = RetryAfter.duration(answer.retryAfter, date: answer.date, wallTime: wallTime)
            let notThisAPI = UploadDecision.backOff(
                .notThisAPI(status: answer.status), retryAfter: retryAfter)
            switch answer.status {
            case 200..<300: return success(answer) ?? notThisAPI
            // RFC 6585, section 6: never the server's own, always the network's in between.
            case 511: return .backOff(.captivePortal, retryAfter: retryAfter)
            case 500..<600: return .backOff(.serverError(status: answer.status), retryAfter: retryAfter)
            default: break
            }
            // Below 500 the body must be this API's, its code the status's own: a captive portal also says 400.
            guard let error = try? APIJSON.decode(ErrorBody.self, from: answer.body).error,
                let code = APIErrorCode(rawValue: error.code), code.status == answer.status
            else { return notThisAPI }
            switch code {
            case .malformed, .batchTooLarge:
                return refused(Refusal(code: error.code, message: ServerText.message(error.message)))
            case .authenticationFailed: return .waitForCredentials(.authenticationFailed)
            case .forbidden: return .waitForCredentials(.forbidden)
            case .unsupportedEncoding: return encodingRefused()
            case .rateLimited: return .pause(retryAfter)
            case .unknownDevice: return .unknownDevice
            case .notFound, .methodNotAllowed, .leaseHeld, .serverError: return notThisAPI
            }
        }
    }
}
