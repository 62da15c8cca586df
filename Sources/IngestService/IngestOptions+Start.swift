import HTTPServer
import IngestStore

extension IngestOptions {
    /// Starts what the options ask for. The caller stops the server.
    public func start(
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) async throws(ExitFailure) -> IngestServer {
        guard tls != nil || listen.isLoopback || allowsPlainHTTP else {
            throw ExitFailure(
                status: 78,
                "\(listen) is not loopback and tokens would travel in the clear: give --tls-certificate and "
                    + "--tls-key, put a TLS proxy before it, or give --allow-plain-http")
        }
        let identity = try tls?.load()
        let tokens = try readTokens()
        let page: Dashboard
        do {
            page = try Dashboard.read(dashboard, program: FileBytes.program)
        } catch {
            throw ExitFailure(status: 78, "dashboard: \(error)")
        }
        let storage: DatabaseStorage
        do {
            storage = try await DatabaseStorage(store, retention: retention) { report(.preparing($0)) }
        } catch {
            throw .store(error)
        }
        do throws(ExitFailure) {
            if tokens == nil { try await requireToken(in: storage) }
            let server = try serve(
                storage, tokens: tokens ?? TokenTable(), identity: identity, page: page.files, report: report)
            for note in page.notes { report(.dashboard(note)) }
            return server
        } catch {
            await storage.close()
            throw error
        }
    }

    /// Reads the certificate, the key and the token file again. When one of them is refused all stay as they
    /// were. Returns when the certificate expires, in seconds since 1970.
    public func reload(_ server: IngestServer) throws(ExitFailure) -> Int? {
        let identity = try tls?.load()
        server.replace(tls: identity, tokens: try readTokens())
        return identity?.expires
    }

    private func readTokens() throws(ExitFailure) -> TokenTable? {
        guard let tokenFile else { return nil }
        do {
            return try TokenFile.read(tokenFile)
        } catch {
            throw ExitFailure(status: 78, "token file \(tokenFile): \(error)")
        }
    }

    private func requireToken(in storage: any TokenStorage) async throws(ExitFailure) {
        do {
            for account in try await storage.accounts() {
                let tokens = try await storage.tokens(account: account)
                if tokens.contains(where: { $0.revokedAt == nil }) { return }
            }
        } catch {
            throw .store(error)
        }
        throw ExitFailure(
            status: 78,
            "there is no token: make one with bandferry-ingest token create, or give --token-file")
    }

    private func serve(
        _ storage: DatabaseStorage, tokens: TokenTable, identity: TLSIdentity?,
        page: StaticFiles, report: @escaping @Sendable (ServiceEvent) -> Void
    ) throws(ExitFailure) -> IngestServer {
        let service = IngestService(
            storage: storage, tokens: tokens, tokenStorage: storage, requestsPerMinute: requestsPerMinute,
            isBehindProxy: isBehindProxy, dashboard: page, report: report)
        do {
            return try IngestServer(
                service: service, storage: storage, address: listen, tls: identity, limits: limits)
        } catch {
            throw ExitFailure(status: 69, "\(error)")
        }
    }
}
