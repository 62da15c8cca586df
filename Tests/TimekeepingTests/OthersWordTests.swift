import GatewayModel
import Testing
import Timekeeping

/// What another gateway named is not cleared for want of a name here.
@Suite struct OthersWordTests {
    static let device = DeviceID("band_1")!
    static let anna = PersonID("p_anna")!
    static let ben = PersonID("p_ben")!

    private func days(_ person: PersonID, _ from: Int64, _ to: Int64?) -> Assignment {
        Assignment(
            device: Self.device, person: person, from: Timestamp(milliseconds: from * 1000),
            to: to.map { Timestamp(milliseconds: $0 * 1000) })
    }

    private func derivation(_ assignments: [Assignment], withdrawn: [Assignment] = []) -> Derivation {
        Derivation(
            wearers: WearerHistory(assignments),
            offsets: OffsetChoice(
                persons: [Self.ben: [ZoneStay(zone: "ben", from: Timestamp(milliseconds: 0))]],
                host: [ZoneStay(zone: "host", from: Timestamp(milliseconds: 0))]
            ) { zone, _ in ["host": 60, "ben": 120][zone] },
            withdrawn: withdrawn)
    }

    /// At 100 s, to within 1 s.
    private func published(_ wearer: WearerVerdict, offset: Int? = 22, _ source: OffsetSource? = .elsewhere)
        -> DerivedFields
    {
        DerivedFields(
            recordedAt: 100_000, bound: 1_000, isUncertain: false, offsetQuarterHours: offset,
            offsetSource: source,
            wearer: wearer)
    }

    private func kept(_ derivation: Derivation) -> WearerVerdict {
        derivation.complete(published(.person(Self.anna)), bandOffset: nil).wearer
    }

    @Test func aNameStandsAgainstNone() {
        #expect(kept(derivation([])) == .person(Self.anna))
        #expect(kept(derivation([days(Self.ben, 500, nil)])) == .person(Self.anna), "nobody")
        #expect(kept(derivation([days(Self.ben, 100, nil)])) == .person(Self.anna), "undecided")
        #expect(kept(derivation([days(Self.ben, 50, nil)])) == .person(Self.ben))
    }

    @Test func whatWasWithdrawnHereIsNoOthersWord() {
        #expect(kept(derivation([], withdrawn: [days(Self.anna, 50, nil)])) == .unsaid)
        #expect(kept(derivation([], withdrawn: [days(Self.anna, 101, 200)])) == .unsaid, "the bound touches")
        #expect(kept(derivation([], withdrawn: [days(Self.anna, 110, 200)])) == .person(Self.anna))
        #expect(kept(derivation([], withdrawn: [days(Self.anna, 0, 99)])) == .person(Self.anna))
        #expect(kept(derivation([], withdrawn: [days(Self.ben, 50, nil)])) == .person(Self.anna))
    }

    @Test func aNameOfThisGatewayGoesWithItsTime() {
        // Anna until 150 s, by this gateway. A better time lies behind that.
        let here = derivation([days(Self.anna, 50, 150)])
        let moved = here.fields(
            TimeEstimate(time: 160_000, bound: 100, isUncertain: false), bandOffset: nil,
            published: published(.person(Self.anna)))
        #expect(moved.wearer == .nobody)
        // Named elsewhere, it stays.
        let elsewhere = derivation([days(Self.ben, 500, nil)]).fields(
            TimeEstimate(time: 160_000, bound: 100, isUncertain: false), bandOffset: nil,
            published: published(.person(Self.anna)))
        #expect(elsewhere.wearer == .person(Self.anna))
    }

    @Test func whereTheHostIsSaysLessThanAnotherGatewayAndMoreThanNothing() {
        let none = derivation([])
        #expect(none.complete(published(.unsaid), bandOffset: nil).offsetQuarterHours == 22)
        #expect(none.complete(published(.unsaid), bandOffset: nil).offsetSource == .elsewhere)
        #expect(none.complete(published(.unsaid, .host), bandOffset: nil).offsetQuarterHours == 4)
        #expect(none.complete(published(.unsaid, offset: nil, nil), bandOffset: nil).offsetQuarterHours == 4)
        #expect(none.complete(published(.unsaid), bandOffset: 13).offsetSource == .band)
        let ben = derivation([days(Self.ben, 50, nil)])
        #expect(ben.complete(published(.unsaid), bandOffset: nil).offsetQuarterHours == 8)
        #expect(ben.complete(published(.unsaid), bandOffset: nil).offsetSource == .person)
    }

    @Test func ofTwoTimesThatAreAsGoodThePublishedOneStands() {
        let none = derivation([])
        func decide(_ bound: Int64) -> DerivedFields? {
            Revision.decide(
                published: published(.unsaid),
                fresh: TimeEstimate(time: 101_000, bound: bound, isUncertain: false),
                bandOffset: nil, isClockBroken: false, derivation: none)
        }
        #expect(decide(1_000) == nil)
        #expect(decide(1_100) == nil)
        #expect(decide(990)?.recordedAt == 101_000)
    }
}
