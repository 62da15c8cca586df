import IngestAPI
import Testing
import UploadDecisions

/// Ingest API 1, the table of statuses, row by row.
@Suite struct StatusTableTests {
    struct Row: CustomTestStringConvertible, Sendable {
        var outcome: AttemptOutcome
        var forTwo: UploadDecision
        var forOne: UploadDecision
        var name: String
        var testDescription: String { name }

        init(
            _ name: String, _ outcome: AttemptOutcome, _ decision: UploadDecision, one: UploadDecision? = nil
        ) {
            self.name = name
            self.outcome = outcome
            forTwo = decision
            forOne = one ?? decision
        }
    }

    static let portal = "<html><body>Please log in</body></html>"
    static let malformed = Refusal(code: "malformed", message: "why")
    static let tooLarge = Refusal(code: "batch_too_large", message: "why")

    static func foreign(_ status: Int) -> UploadDecision {
        .backOff(.notThisAPI(status: status), retryAfter: nil)
    }
    static func failing(_ status: Int) -> UploadDecision {
        .backOff(.serverError(status: status), retryAfter: nil)
    }

    static let rows: [Row] = [
        Row("400", answered(400, errorBody("malformed")), .halve(malformed), one: .quarantine(malformed)),
        Row(
            "401", answered(401, errorBody("authentication_failed")),
            .waitForCredentials(.authenticationFailed)),
        Row("403", answered(403, errorBody("forbidden")), .waitForCredentials(.forbidden)),
        Row("413", answered(413, errorBody("batch_too_large")), .halve(tooLarge), one: .quarantine(tooLarge)),
        Row("415", answered(415, errorBody("unsupported_encoding")), .sendIdentity),
        Row("429", answered(429, errorBody("rate_limited"), retryAfter: "7"), .pause(.seconds(7))),
        Row("429 without Retry-After", answered(429, errorBody("rate_limited")), .pause(nil)),
        Row("500", answered(500), failing(500)),
        Row("502 of a proxy", answered(502, portal), failing(502)),
        Row("503", answered(503, errorBody("server_error")), failing(503)),
        Row(
            "503 with Retry-After", answered(503, errorBody("server_error"), retryAfter: "30"),
            .backOff(.serverError(status: 503), retryAfter: .seconds(30))),
        Row("599", answered(599), failing(599)),
        Row("stopped", .unanswered(.aborted), .stop),
        // Anything else: a captive portal must never quarantine data.
        Row("portal 200", answered(200, portal), foreign(200)),
        Row("200 empty", answered(200), foreign(200)),
        Row("200 of another JSON API", answered(200, #"{"ok":true}"#), foreign(200)),
        Row("200 with an error of ours", answered(200, errorBody("malformed")), foreign(200)),
        Row("204", answered(204), foreign(204)),
        Row("portal redirect", answered(302, portal), foreign(302)),
        Row("301", answered(301), foreign(301)),
        Row("307 with our error", answered(307, errorBody("malformed")), foreign(307)),
        Row("portal 400", answered(400, portal), foreign(400)),
        Row("400 of another API", answered(400, errorBody("invalid_request")), foreign(400)),
        Row("400 with the code of 413", answered(400, errorBody("batch_too_large")), foreign(400)),
        Row("portal 401", answered(401, portal), foreign(401)),
        Row("portal 403", answered(403, portal), foreign(403)),
        Row("proxy's 413", answered(413, portal), foreign(413)),
        Row("proxy's 415", answered(415), foreign(415)),
        Row(
            "proxy's 429", answered(429, portal, retryAfter: "9"),
            .backOff(.notThisAPI(status: 429), retryAfter: .seconds(9))),
        Row("404", answered(404, portal), foreign(404)),
        Row("404 not_found", answered(404, errorBody("not_found")), foreign(404)),
        Row("404 unknown_device", answered(404, errorBody("unknown_device")), foreign(404)),
        Row("405", answered(405, errorBody("method_not_allowed")), foreign(405)),
        Row("409", answered(409, errorBody("lease_held")), foreign(409)),
        Row("407 of a proxy", answered(407, portal), foreign(407)),
        Row("511", answered(511, portal), .backOff(.captivePortal, retryAfter: nil)),
        Row("100", answered(100), foreign(100)),
        Row("0", answered(0), foreign(0)),
        Row("999", answered(999), foreign(999)),
    ]

    @Test(arguments: rows) func everyRowOfTheTableIsDecidedAsItSays(_ row: Row) {
        #expect(StatusTable.decide(row.outcome, batch: batch(2), wallTime: wallTime) == row.forTwo)
        #expect(StatusTable.decide(row.outcome, batch: batch(1), wallTime: wallTime) == row.forOne)
    }

    // Not in the attribute: Swift 6.0.3 crashes on a closure there.
    static let causes = NoAnswer.allCases.filter { $0 != .aborted }

    @Test(arguments: causes)
    func noAnswerBacksOffWhateverTheCause(_ cause: NoAnswer) {
        #expect(
            StatusTable.decide(.unanswered(cause), batch: batch(1), wallTime: wallTime)
                == .backOff(.noAnswer(cause), retryAfter: nil))
    }

    /// What is no id by the contract is not kept: it may be anything, of any length.
    @Test(arguments: ["", "a\u{1b}[2J", "a\nb", "longer than 128 bytes"])
    func aHolderThatIsNoIDIsNoAnswerOfThisAPI(_ name: String) throws {
        let holder = name.hasPrefix("longer") ? String(repeating: "x", count: 129) : name
        let fields = LeaseAnswer(holder: holder, expiresAt: wallTime)
        let granted = String(decoding: try APIJSON.encode(fields), as: UTF8.self)
        let held = LeaseHeldBody(
            error: ErrorBody(code: "lease_held", message: "").error, holder: holder, expiresAt: wallTime)
        let refused = String(decoding: try APIJSON.encode(held), as: UTF8.self)
        for (status, body) in [(200, granted), (409, refused)] {
            let (decision, value) = StatusTable.decideLease(
                answered(status, body), isAsked: true, wallTime: wallTime)
            #expect(decision == Self.foreign(status))
            #expect(value == nil)
        }
    }

    @Test func theLongestHolderIsTaken() throws {
        let holder = String(repeating: "x", count: 128)
        let body = String(
            decoding: try APIJSON.encode(LeaseAnswer(holder: holder, expiresAt: wallTime)), as: UTF8.self)
        #expect(
            StatusTable.decideLease(answered(200, body), isAsked: true, wallTime: wallTime).decision == .taken
        )
    }

    @Test func identityThatIsRefusedTooBacksOff() {
        let outcome = answered(415, errorBody("unsupported_encoding"))
        #expect(
            StatusTable.decide(outcome, batch: batch(2, compressed: false), wallTime: wallTime)
                == .backOff(.encodingRefused, retryAfter: nil))
    }

    /// The rows that may set data aside need both the status and its own code; no other pair may.
    @Test func onlyTheTwoRefusalsOfThisAPIEverQuarantine() {
        let bodies =
            APIErrorCode.allCases.map { errorBody($0.rawValue) } + [Self.portal, "", "{}", "[]", success(1)]
        for status in 100...999 {
            for body in bodies {
                let decision = StatusTable.decide(answered(status, body), batch: batch(1), wallTime: wallTime)
                guard case .quarantine(let refusal) = decision else { continue }
                #expect([400: "malformed", 413: "batch_too_large"][status] == refusal.code)
                #expect(body == errorBody(refusal.code))
            }
        }
    }

    private func put(_ outcome: AttemptOutcome, _ gaps: [APIGap] = []) -> (UploadDecision, Bool) {
        StatusTable.decidePut(outcome, wallTime: wallTime) { PutProof.held(gaps, $0).count == gaps.count }
    }

    @Test func aPutIsTakenByAnAnswerOfThisAPIAndItsRefusalTouchesNoSample() {
        let gap = APIGap(ring: "b5e5d00d", firstSeq: 11, lastSeq: nil, cause: .unreadable)
        let shown =
            #"{"gaps":[{"ring":"b5e5d00d","first_seq":11,"cause":"unreadable"},"#
            + #"{"ring":"b5e5d00d","first_seq":7,"cause":"of tomorrow"}]}"#
        #expect(put(answered(200, shown), [gap]) == (.taken, true))
        for other in [
            "{}", shown.replacing("unreadable", with: "of tomorrow"), #"{"gaps":[]}"#,
            shown.replacing("11", with: "12"), shown.replacing("b5", with: "b6"),
        ] {
            #expect(put(answered(200, other), [gap]) == (.taken, false), "\(other)")
        }
        #expect(put(answered(204), [gap]) == (.taken, false))
        for foreign in [Self.portal, "ok", "[]", "null", "7", #""{}""#] {
            #expect(put(answered(200, foreign), [gap]) == (Self.foreign(200), false), "\(foreign)")
        }
        #expect(put(answered(400, errorBody("malformed"))) == (.passOver(Self.malformed), false))
        #expect(put(answered(404, errorBody("unknown_device"))) == (.unknownDevice, false))
        #expect(put(answered(302)) == (Self.foreign(302), false))
        #expect(
            put(answered(401, errorBody("authentication_failed")))
                == (.waitForCredentials(.authenticationFailed), false))
    }

    /// The last PUT of a key counts, and a gap stays healed: another version of it is not what was put.
    @Test func aServersGapIsTheOneThatWasPutOrTheSameHealed() throws {
        let time = APITime(milliseconds: 1_793_079_060_000)
        let put = APIGap(
            ring: "b5e5d00d", firstSeq: 11, lastSeq: 15, after: time, before: nil, cause: .freedElsewhere)
        let changes: [(inout APIGap) -> Void] = [
            { $0.lastSeq = 14 }, { $0.lastSeq = 16 }, { $0.lastSeq = nil }, { $0.after = nil },
            { $0.after = APITime(milliseconds: 7) }, { $0.before = time }, { $0.cause = .unreadable },
            { $0.ring = "b5e5d00e" }, { $0.firstSeq = 12 },
        ]
        func isHeld(_ kept: APIGap, _ put: APIGap) throws -> Bool {
            let body = try APIJSON.encode(GapList(gaps: [kept]))
            let (decision, held) = StatusTable.decideGapsHeld(
                .answered(.init(status: 200, body: body)), [put], wallTime: wallTime)
            #expect(decision == .taken && held == PutProof.held([put], body))
            return held == [GapKey(put)]
        }
        var healed = put
        healed.healedAt = time
        for (kept, put, isSame) in [
            (put, put, true), (healed, put, true), (healed, healed, true), (put, healed, false),
        ] {
            #expect(try isHeld(kept, put) == isSame)
            for change in changes {
                var other = kept
                change(&other)
                #expect(try !isHeld(other, put), "\(other)")
            }
        }
        var later = healed
        later.healedAt = APITime(milliseconds: 7)
        #expect(try !isHeld(later, healed))
    }

    @Test func whatIsHeldOfAListIsNamedOneByOne() throws {
        let gaps = (1...5).map {
            APIGap(ring: "b5e5d00d", firstSeq: $0 * 10, lastSeq: $0 * 10, cause: .unreadable)
        }
        let body = try APIJSON.encode(GapList(gaps: Array(gaps.dropFirst(2))))
        #expect(PutProof.held(gaps, body) == Set(gaps.dropFirst(2).map(GapKey.init)))
        #expect(PutProof.held(gaps, Array("{}".utf8)).isEmpty)
    }

    /// A server of this API that can't show them never will; a page of something else passes.
    @Test func gapsThatCannotBeReadAreNoOutageWhereTheServerSaysSo() {
        let gap = APIGap(ring: "b5e5d00d", firstSeq: 11, lastSeq: nil, cause: .unreadable)
        func expect(_ outcome: AttemptOutcome, _ decision: UploadDecision) {
            let held = StatusTable.decideGapsHeld(outcome, [gap], wallTime: wallTime)
            #expect(held.decision == decision && held.held.isEmpty, "\(outcome)")
            #expect(StatusTable.decideLedger(outcome, wallTime: wallTime).decision == decision, "\(outcome)")
        }
        for outcome in [
            answered(403, errorBody("forbidden")), answered(404, errorBody("not_found")),
            answered(405, errorBody("method_not_allowed")), answered(415, errorBody("unsupported_encoding")),
            .unanswered(.answerTooLarge),
        ] {
            expect(outcome, .passOver(.notStored))
        }
        for status in [200, 302, 403, 404, 405] {
            expect(answered(status, Self.portal), Self.foreign(status))
        }
        expect(answered(204), Self.foreign(204))
        expect(answered(200, "{}"), Self.foreign(200))
        expect(answered(404, errorBody("method_not_allowed")), Self.foreign(404))
        expect(answered(503, errorBody("server_error")), Self.failing(503))
        expect(answered(511), .backOff(.captivePortal, retryAfter: nil))
        expect(answered(429, errorBody("rate_limited")), .pause(nil))
        expect(answered(401, errorBody("authentication_failed")), .waitForCredentials(.authenticationFailed))
        expect(answered(404, errorBody("unknown_device")), .unknownDevice)
        expect(.unanswered(.aborted), .stop)
        for cause in Self.causes where cause != .answerTooLarge {
            expect(.unanswered(cause), .backOff(.noAnswer(cause), retryAfter: nil))
        }
    }

    @Test func aPersonIsOnlyOneWithZones() {
        func decide(_ status: Int, _ body: String) -> (UploadDecision, PersonRecord?) {
            StatusTable.decidePerson(answered(status, body), wallTime: wallTime)
        }
        #expect(decide(200, #"{"zones":[]}"#) == (.taken, PersonRecord(zones: [])))
        #expect(decide(200, #"{"label":"A","zones":[]}"#) == (.taken, PersonRecord(label: "A", zones: [])))
        for foreign in ["{}", #"{"ok":true}"#, #"{"label":"A"}"#, "[]", Self.portal, ""] {
            #expect(decide(200, foreign) == (Self.foreign(200), nil), "\(foreign)")
        }
        #expect(decide(404, errorBody("not_found")) == (.taken, nil))
    }

    @Test func aLeaseIsOnlyOneWithWhoHoldsIt() {
        let time = "2026-10-27T05:31:00.000Z"
        let held = #"{"holder":"gw_1","expires_at":"\#(time)"}"#
        let free = #"{"holder":null,"expires_at":null}"#
        func decide(_ status: Int, _ body: String, isAsked: Bool) -> (UploadDecision, LeaseDecision?) {
            StatusTable.decideLease(answered(status, body), isAsked: isAsked, wallTime: wallTime)
        }
        let answer = LeaseAnswer(holder: "gw_1", expiresAt: APITime(time))
        for isAsked in [true, false] {
            #expect(decide(200, held, isAsked: isAsked) == (.taken, .granted(answer)))
            for foreign in [Self.portal, "{}", "[]", #"{"ok":true}"#, #"{"holder":7}"#] {
                #expect(decide(200, foreign, isAsked: isAsked) == (Self.foreign(200), nil), "\(foreign)")
            }
            #expect(decide(409, held, isAsked: isAsked) == (Self.foreign(409), nil), "no error in it")
            #expect(decide(404, Self.portal, isAsked: isAsked) == (Self.foreign(404), nil))
            for code in [APIErrorCode.notFound, .methodNotAllowed] {
                let absent = decide(code.status, errorBody(code.rawValue), isAsked: isAsked)
                #expect(absent.1 == .notKept)
            }
        }
        #expect(
            decide(200, free, isAsked: false) == (.taken, .granted(LeaseAnswer(holder: nil, expiresAt: nil))))
        #expect(decide(200, free, isAsked: true) == (Self.foreign(200), nil), "it was asked for")
    }

    @Test func anAnswerShowsAStatusOrAPersonOnlyAsItWasPut() throws {
        let report = DeviceReport(batteryPercent: 80, unsent: 0)
        let reported = try APIJSON.encode(report)
        #expect(PutProof.shows(report, reported))
        let person = PersonRecord(label: "Anna", zones: [])
        let named = try APIJSON.encode(person)
        #expect(PutProof.shows(person, named))
        for body in ["{}", #"{"battery_percent":81,"unsent":0,"label":"Anne","zones":[]}"#, Self.portal, ""] {
            #expect(!PutProof.shows(report, Array(body.utf8)), "\(body)")
            #expect(!PutProof.shows(person, Array(body.utf8)), "\(body)")
            #expect(!PutProof.shows(PersonRecord(zones: []), Array(body.utf8)), "\(body)")
        }
    }

    @Test func aStateIsOnlyOneOfTheDeviceThatWasAskedFor() {
        let body =
            #"{"device_id":"band_1","rings":[{"ring":"b5e5d00d","complete_through":7,"ack_seq":{"steps":9},"#
            + #""first_seen":"2026-10-27T05:31:00.000Z"}],"max_version":3,"counts":{}}"#
        let known = StatusTable.decideState(answered(200, body), device: "band_1", wallTime: wallTime)
        #expect(known.decision == .taken)
        #expect(known.value?.maxVersion == 3)
        #expect(known.value?.rings.first?.completeThrough == 7)
        let other = StatusTable.decideState(answered(200, body), device: "band_2", wallTime: wallTime)
        #expect(other.decision == Self.foreign(200))
        #expect(other.value == nil)
        let unknown = StatusTable.decideState(
            answered(404, errorBody("unknown_device")), device: "band_1", wallTime: wallTime)
        #expect(unknown.decision == .unknownDevice)
        // A wrong URL is no unknown device: "the server has nothing" would be a lie.
        let wrongURL = StatusTable.decideState(
            answered(404, Self.portal), device: "band_1", wallTime: wallTime)
        #expect(wrongURL.decision == Self.foreign(404))
    }
}
