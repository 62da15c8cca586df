import GatewayConfiguration
import GatewayModel
import Glibc
import HTTPServer
import Metrics

/// `[metrics]`: off unless the configuration asks for it, and for this host alone.
extension GatewayDaemon {
    /// Nil when it is off, or could not be opened: bands are synced all the same.
    func openMetrics() -> HTTPServer? {
        guard let listener = settings.configuration.metrics else { return nil }
        // Scrapers are few and ask for little.
        let limits = HTTPLimits(
            bodyBytes: 1024, bytesInHand: 4 << 20, connections: 8, idleSeconds: 30,
            headDeadline: .seconds(10),
            bodyDeadline: .seconds(10), answerDeadline: .seconds(30))
        do {
            let server = try HTTPServer.start(address: ListenAddress(listener), limits: limits) {
                [weak self] in
                await self?.answer($0) ?? HTTPServer.plainRefusal(.stopping)
            }
            settings.log.notice("metrics are shown", [("address", .text("\(server.address)"))])
            return server
        } catch {
            settings.log.error("metrics can't be shown", [("error", .error(error))])
            return nil
        }
    }

    private func answer(_ request: ServerRequest) async -> ServerResponse {
        guard request.path == ["metrics"] else {
            return ServerResponse(
                status: 404, contentType: "text/plain; charset=utf-8", body: Array("See /metrics.\n".utf8))
        }
        guard request.method == "GET" || request.method == "HEAD" else {
            return ServerResponse(status: 405, headers: [HTTPField("Allow", "GET, HEAD")])
        }
        return ServerResponse(
            status: 200, contentType: OpenMetricsText.contentType, body: Array(await metrics().text.utf8))
    }

    private func metrics() async -> GatewayMetrics {
        let directory = settings.configuration.stateDirectory
        let files = ["gateway.db", "gateway.db-wal"].compactMap { name -> Int64? in
            var facts = stat()
            return stat("\(directory)/\(name)", &facts) == 0 ? Int64(facts.st_size) : nil
        }
        var space = statvfs()
        let free =
            statvfs(directory, &space) == 0
            ? Int64(clamping: UInt64(space.f_bavail) * UInt64(space.f_frsize)) : nil
        return GatewayMetrics(
            status: await status(), counts: meter.value, radio: radioCounters(),
            now: settings.clock.wall(),
            databaseBytes: files.isEmpty ? nil : files.reduce(0, +), freeBytes: free)
    }
}

extension ListenAddress {
    fileprivate init(_ listener: MetricsListener) {
        switch listener {
        case .socket(let path): self.init(path: path)
        case .loopback(let host, let port): self.init(host: host, port: port)
        }
    }
}
