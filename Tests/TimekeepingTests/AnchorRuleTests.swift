import GatewayModel
import Testing

@testable import Timekeeping

@Suite struct AnchorRuleTests {
    private func stamp(_ seconds: Int64, _ trust: HostTrust, bound: Int64 = 100, boot: String = "a")
        -> HostStamp
    {
        HostStamp(
            bootID: boot, monotonic: seconds * 1000, wall: Timestamp(milliseconds: 0), trust: trust,
            boundMilliseconds: bound)
    }

    @Test func aSteadyClockIsNotedOnce() {
        var rule = AnchorRule()
        let noted = (0..<20_000).count {
            rule.isWorthNoting(stamp($0 * 10, .synchronised, bound: 100 + $0 % 900))
        }
        #expect(noted == 1)
    }

    @Test func whatIsMuchBetterIsNoted() {
        var rule = AnchorRule()
        let stamps = [
            stamp(1, .implausible), stamp(2, .plausible, bound: 300_000),
            stamp(3, .plausible, bound: 300_000),
            stamp(4, .synchronised, bound: 900), stamp(5, .synchronised, bound: 300),
            stamp(6, .synchronised, bound: 200), stamp(1, .plausible, bound: 300_000, boot: "b"),
        ]
        let noted = stamps.map { rule.isWorthNoting($0) }
        #expect(noted == [false, true, false, true, false, true, true])
    }
}

@Suite struct WearerSpanTests {
    /// Another gateway may have said any bound that can be written.
    @Test(arguments: [Int64.max, 9_007_199_254_740_991, 0] as [Int64])
    func noBoundIsTooLarge(_ bound: Int64) throws {
        let device = try #require(DeviceID("band_X"))
        let anna = try #require(PersonID("p_anna"))
        let history = WearerHistory([
            Assignment(device: device, person: anna, from: Timestamp(milliseconds: 1_000))
        ])
        #expect(
            history.wearer(at: 1_793_000_000_000, bound: bound) == (bound == 0 ? .person(anna) : .undecided))
        #expect(history.wearer(at: -1_793_000_000_000, bound: bound) == (bound == 0 ? .nobody : .undecided))
    }
}
