import Testing
import UploadDecisions

@Suite struct NetworkViewTests {
    var view = NetworkView()

    @discardableResult
    mutating func manager(
        state: Int? = nil, connectivity: Int? = nil, metered: Int? = nil, primary: String? = nil
    ) -> Bool {
        view.networkManager(
            .init(state: state, connectivity: connectivity, metered: metered, primary: primary))
    }

    @discardableResult
    mutating func networkd(_ online: String? = nil, _ operational: String? = nil) -> Bool {
        view.networkd(.init(onlineState: online, operationalState: operational))
    }

    @Test mutating func nobodyThereIsNothingKnown() {
        view.looked()
        #expect(view.state == NetworkState())
        let came = view.networkManager(nil)
        #expect(!came)
    }

    @Test mutating func theFirstLookIsNoNews() {
        let first = manager(state: 70, connectivity: 4, metered: 4, primary: "/a/1")
        #expect(!first)
        view.looked()
        #expect(view.state == NetworkState(isUp: true))
    }

    @Test mutating func aNetworkThatComesIsNewsOnce() {
        manager(state: 20, connectivity: 1)
        view.looked()
        #expect(view.state.isUp == false)
        let connecting = manager(state: 40)
        let local = manager(state: 50)
        let site = manager(state: 60)
        let again = manager(state: 60)
        let global = manager(state: 70)
        #expect([connecting, local, site, again, global] == [false, false, true, false, false])
        let asleep = manager(state: 10)
        let awake = manager(state: 70)
        #expect([asleep, awake] == [false, true])
    }

    @Test mutating func aPortalThatLetsThroughIsNews() {
        manager(state: 60, connectivity: 2)
        view.looked()
        #expect(view.state == NetworkState(isUp: true, wantsLogIn: true))
        let passed = manager(connectivity: 4)
        #expect(passed)
        #expect(!view.state.wantsLogIn)
    }

    @Test mutating func anotherConnectionIsNews() {
        manager(state: 70, connectivity: 4, primary: "/a/1")
        view.looked()
        let gone = manager(primary: "/")
        let wifi = manager(primary: "/a/2")
        let same = manager(primary: "/a/2")
        let mobile = manager(metered: 1, primary: "/a/3")
        #expect([gone, wifi, same, mobile] == [false, true, false, true])
        #expect(view.state.isMetered)
    }

    @Test(arguments: [(0, false), (1, true), (2, false), (3, true), (4, false), (99, false)])
    mutating func meteredIsYesAndGuessYes(_ value: Int, _ expected: Bool) {
        manager(metered: value)
        #expect(view.state.isMetered == expected)
    }

    @Test(
        arguments: [
            ("online", nil, true), ("partial", nil, true), ("offline", nil, false),
            ("offline", "routable", true),
            ("", "routable", true), ("online", "degraded", false), (nil, "no-carrier", false), ("", nil, nil),
            ("something new", nil, nil),
        ] as [(String?, String?, Bool?)])
    mutating func networkdSaysWhetherItIsOnline(_ online: String?, _ operational: String?, _ isUp: Bool?) {
        networkd(online, operational)
        #expect(view.state.isUp == isUp)
    }

    /// As networkd 252 signals it: a link of its own is online before it leads anywhere.
    @Test mutating func anAddressFromOutsideIsTheNews() {
        networkd("offline", "off")
        view.looked()
        var news: [Bool] = []
        for state in ["no-carrier", "carrier", "degraded", "routable", "routable"] {
            let came = networkd(state == "degraded" ? "online" : nil, state)
            news.append(came)
        }
        #expect(news == [false, false, false, true, false])
    }

    @Test mutating func eitherOfTwoMaySayThatItIsUp() {
        manager(state: 20)
        networkd("offline")
        view.looked()
        #expect(view.state.isUp == false)
        let networkdCame = networkd("online")
        #expect(networkdCame)
        #expect(view.state.isUp == true)
        let managerToo = manager(state: 70)
        #expect(!managerToo, "it was up before")
        _ = view.networkd(nil)
        #expect(view.state.isUp == true)
        _ = view.networkManager(nil)
        #expect(view.state == NetworkState(), "who is gone says nothing")
        let back = manager(state: 70)
        #expect(back)
    }

    @Test mutating func aStateThatNobodyKnowsIsNone() {
        manager(state: 0)
        #expect(view.state.isUp == nil)
    }

    // MARK: prompts

    @Test func promptsWithinASecondAreOne() {
        var gate = PromptGate(interval: .seconds(1))
        #expect(gate.wait(now: .seconds(5)) == nil)
        var tries: [Duration] = []
        for step in 0..<100 {
            let now = Duration.seconds(5) + .milliseconds(100 * step)
            gate.prompted(now: now)
            if gate.isDue(now: now) { tries.append(now) }
        }
        #expect(tries == (0..<10).map { .seconds(5 + $0) }, "the first at once, then once a second")
        gate.prompted(now: .seconds(60))
        #expect(gate.wait(now: .seconds(60)) == .zero)
        let isDue = gate.isDue(now: .seconds(60))
        #expect(isDue)
        #expect(gate.wait(now: .seconds(60)) == nil, "one prompt, one try")
    }
}
