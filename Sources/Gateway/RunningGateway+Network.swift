import DBus
import NetworkWatch
import Systemd
import Uplink

extension RunningGateway {
    /// The upload is told when the network comes, where somebody knows.
    func watchNetwork(for uploader: Uploader) -> Task<Void, Never> {
        let log = log
        let watch = NetworkWatch(bus: bus) { state, came in
            log.debug(
                "the network",
                [
                    ("up", .text(state.isUp.map { $0 ? "yes" : "no" } ?? "unknown")),
                    ("came", .text(came ? "yes" : "no")), ("portal", .text(state.wantsLogIn ? "yes" : "no")),
                    ("metered", .text(state.isMetered ? "yes" : "no")),
                ])
            uploader.network(state, came: came)
        }
        return Task { await watch.run() }
    }
}
