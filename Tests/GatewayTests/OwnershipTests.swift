import BandProfile
import GatewayModel
import Locking
import Store
import Testing
import Uplink

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

    /// What 'bandferry replace' need not ask the server anew.
    @Test func aServerThatKeptNoLeasesMayHaveLearntThem() {
        #expect(lease(true, left: -1).isSaidToBeOurs)
        #expect(!lease(false, left: 1).isSaidToBeOurs)
        #expect(!BandLease.notKept.isSaidToBeOurs && !BandLease.unanswered.isSaidToBeOurs)
    }

    // MARK: asking

    /// A server that is asked, and what was said last.
    private final class Server: Sendable {
        let answer = Guarded(LeaseReply.unanswered)
        let known = Guarded<BandLease?>(nil)
        let asked = Guarded(0)

        struct Unreadable: Error {}
        let isUnreadable = Guarded(false)

        func ownership(now: Timestamp) -> Ownership {
            Ownership(
                known: { _ in
                    if self.isUnreadable.withLock({ $0 }) { throw Unreadable() }
                    return self.known.withLock { $0 }
                },
                ask: { _ in
                    self.asked.withLock { $0 += 1 }
                    return self.answer.withLock { $0 }
                }, now: { (now, .plausible) })
        }

        var count: Int { asked.withLock { $0 } }
        func says(_ lease: BandLease) { answer.withLock { $0 = .said(lease) } }
        func refuses() { answer.withLock { $0 = .refused } }
        func said(_ lease: BandLease?) { known.withLock { $0 = lease } }
    }

    private func band(_ bits: UInt64, _ mode: BandMode = .own) -> AdoptedBand {
        let address = BluetoothAddress(bits: bits)
        return AdoptedBand(address: address, device: DeviceID(address), mode: mode)
    }

    /// A card of long ago, whose hold another gateway was given since, starts while the network is not there yet.
    @Test func theFirstQuestionIsAskedUntilItIsAnswered() async {
        let server = Server()
        let ownership = server.ownership(now: now)
        server.said(lease(true, left: 1))
        for count in 1...3 {
            let kept = await ownership.lease(of: band(1))
            #expect(kept == lease(true, left: 1) && server.count == count, "the last owner goes on")
        }
        server.says(lease(false, left: 5))
        let told = await ownership.lease(of: band(1))
        #expect(told == lease(false, left: 5) && server.count == 4)
        server.said(lease(false, left: 5))
        let after = await ownership.lease(of: band(1))
        #expect(after == lease(false, left: 5) && server.count == 4, "once it was answered")
    }

    /// Its gateway was replaced, and its token revoked: the server is there, and the band another's.
    @Test func whoseTokenIsRefusedObserves() async {
        let server = Server()
        let ownership = server.ownership(now: now)
        server.said(lease(true, left: 1))
        server.refuses()
        for count in 1...2 {
            let refused = await ownership.lease(of: band(1))
            #expect(refused == .unanswered && server.count == count)
        }
        server.says(lease(true, left: 5))
        let told = await ownership.lease(of: band(1))
        #expect(told == lease(true, left: 5))
        let after = await ownership.lease(of: band(1))
        #expect(after == lease(true, left: 1) && server.count == 3, "nothing has to be asked")
    }

    @Test func eachBandHasAFirstQuestionOfItsOwn() async {
        let server = Server()
        let ownership = server.ownership(now: now)
        server.said(.notKept)
        server.says(.notKept)
        for bits in [1, 2, 1, 2] as [UInt64] { _ = await ownership.lease(of: band(bits)) }
        #expect(server.count == 2)
        let observed = await ownership.lease(of: band(3, .observe))
        #expect(observed == .notKept && server.count == 2, "who only observes has nothing to ask")
    }

    @Test func whoWasNeverAnsweredObserves() async {
        let server = Server()
        let ownership = server.ownership(now: now)
        let first = await ownership.lease(of: band(1))
        #expect(first == .unanswered && server.count == 1)
        server.said(lease(true, left: 1))
        server.isUnreadable.withLock { $0 = true }
        let unreadable = await ownership.lease(of: band(1))
        #expect(unreadable == .unanswered && server.count == 1)
        let alone = Ownership(
            known: { _ in nil }, ask: nil, now: { (Timestamp(milliseconds: 0), .plausible) })
        let lease = await alone.lease(of: band(1))
        #expect(lease == nil, "there is no server")
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
