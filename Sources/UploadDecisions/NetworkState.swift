/// What those who manage this host's networks say. Hints: without them everything works, only later.
public struct NetworkState: Equatable, Sendable {
    /// Nil = nobody says. False never keeps an upload from being tried: there may be a network that they do not manage.
    public var isUp: Bool?
    /// A captive portal was found.
    public var wantsLogIn: Bool
    /// It is, or is guessed to be, paid by volume.
    public var isMetered: Bool

    public init(isUp: Bool? = nil, wantsLogIn: Bool = false, isMetered: Bool = false) {
        self.isUp = isUp
        self.wantsLogIn = wantsLogIn
        self.isMetered = isMetered
    }
}

/// What NetworkManager and systemd-networkd said last, and when the network came by what they say.
public struct NetworkView: Equatable, Sendable {
    /// Properties of `org.freedesktop.NetworkManager`; nil = it did not say.
    public struct ManagerReport: Equatable, Sendable {
        /// NMState.
        public var state: Int?
        /// NMConnectivityState.
        public var connectivity: Int?
        /// NMMetered.
        public var metered: Int?
        /// Object path of the connection that the default route goes over; "/" = none.
        public var primary: String?

        public init(
            state: Int? = nil, connectivity: Int? = nil, metered: Int? = nil, primary: String? = nil
        ) {
            self.state = state
            self.connectivity = connectivity
            self.metered = metered
            self.primary = primary
        }

        /// Newer values over these.
        mutating func update(_ news: Self) {
            state = news.state ?? state
            connectivity = news.connectivity ?? connectivity
            metered = news.metered ?? metered
            primary = news.primary ?? primary
        }

        /// NM_STATE_CONNECTED_SITE is 60, below it is none or only this link; 0 = unknown.
        var isUp: Bool? { state.flatMap { $0 == 0 ? nil : $0 >= 60 } }
        /// NM_CONNECTIVITY_PORTAL.
        var wantsLogIn: Bool { connectivity == 2 }
        /// NM_CONNECTIVITY_FULL.
        var isFull: Bool { connectivity == 4 }
        /// NM_METERED_YES and NM_METERED_GUESS_YES.
        var isMetered: Bool { metered == 1 || metered == 3 }
        var connection: String? { primary.flatMap { $0.isEmpty || $0 == "/" ? nil : $0 } }
    }

    /// Properties of `org.freedesktop.network1.Manager`.
    public struct NetworkdReport: Equatable, Sendable {
        public var onlineState: String?
        public var operationalState: String?

        public init(onlineState: String? = nil, operationalState: String? = nil) {
            self.onlineState = onlineState
            self.operationalState = operationalState
        }

        mutating func update(_ news: Self) {
            onlineState = news.onlineState ?? onlineState
            operationalState = news.operationalState ?? operationalState
        }

        /// networkctl(1). A link that has only an address of its own ("degraded") leads nowhere yet, and counts as online all
        /// the same: only where the operational state is not told does the online state say.
        var isUp: Bool? {
            if let operationalState { return operationalState == "routable" }
            switch onlineState {
            case "online", "partial": return true
            case "offline": return false
            default: return nil
            }
        }
    }

    private var manager: ManagerReport?
    private var networkd: NetworkdReport?
    private var hasLooked = false

    public init() {}

    public var state: NetworkState {
        let answers = [manager?.isUp, networkd?.isUp].compactMap { $0 }
        return NetworkState(
            isUp: answers.isEmpty ? nil : answers.contains(true), wantsLogIn: manager?.wantsLogIn ?? false,
            isMetered: manager?.isMetered ?? false)
    }

    /// What is known now was read for the first time: it is no news.
    public mutating func looked() { hasLooked = true }

    /// Nil = it is gone. True = the network came, or another took its place.
    public mutating func networkManager(_ news: ManagerReport?) -> Bool {
        change { view in
            guard let news else { return view.manager = nil }
            var report = view.manager ?? ManagerReport()
            report.update(news)
            view.manager = report
        }
    }

    public mutating func networkd(_ news: NetworkdReport?) -> Bool {
        change { view in
            guard let news else { return view.networkd = nil }
            var report = view.networkd ?? NetworkdReport()
            report.update(news)
            view.networkd = report
        }
    }

    private mutating func change(_ body: (inout Self) -> Void) -> Bool {
        let before = self
        body(&self)
        guard hasLooked, state.isUp == true else { return false }
        if before.state.isUp != true { return true }
        guard let old = before.manager, let new = manager else { return false }
        if new.isFull, !old.isFull, old.connectivity != nil { return true }
        return new.connection != nil && new.connection != old.connection && old.primary != nil
    }
}
