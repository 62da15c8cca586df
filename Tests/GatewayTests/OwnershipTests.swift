import GatewayModel
import Testing

@testable import Gateway

/// When the server is asked who owns a band, before anything of it is acknowledged.
@Suite struct OwnershipTests {
    private let now = Timestamp(milliseconds: 1_000_000)

    private func lease(_ isOurs: Bool, left: Int64) -> BandLease {
        BandLease(isOurs: isOurs, holder: "gw_1", until: Timestamp(milliseconds: now.milliseconds + left))
    }

    private func isAsked(_ known: BandLease?, trust: HostTrust = .plausible) -> Bool {
        BandLease.isToBeAsked(known, at: now, trust: trust)
    }

    @Test func aGatewayThatNeverOwnedTheBandAsks() {
        #expect(isAsked(nil) && isAsked(nil, trust: .synchronised))
    }

    @Test func anOwnerAsksWhenItsTimeIsOver() {
        #expect(
            !isAsked(lease(true, left: 1)) && !isAsked(lease(true, left: 3_600_000), trust: .synchronised))
        #expect(isAsked(lease(true, left: 0)) && isAsked(lease(true, left: -86_400_000)))
        // A card of long ago, in a host that believes that it is still then.
        #expect(isAsked(lease(true, left: 1), trust: .implausible))
    }

    @Test func anObserverIsToldAndAServerWithoutLeasesHasNothingToSay() {
        for trust in HostTrust.allCases {
            #expect(!isAsked(lease(false, left: -1), trust: trust))
            #expect(!isAsked(.notKept, trust: trust))
        }
    }

    @Test func onlyWhatWasSaidOrNobodyCouldSayLetsItOwn() {
        #expect(BandMode.own.effective(nil) == .own, "there is no server")
        #expect(BandMode.own.effective(.unanswered) == .observe)
        #expect(BandMode.own.effective(.notKept) == .own)
        #expect(BandMode.own.effective(lease(true, left: -1)) == .own, "the last owner goes on")
        #expect(BandMode.own.effective(lease(false, left: -1)) == .observe)
        for lease in [nil, .unanswered, .notKept, lease(true, left: 1)] as [BandLease?] {
            #expect(BandMode.observe.effective(lease) == .observe)
        }
    }
}
