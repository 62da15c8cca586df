import HTTPServer

/// Why the program ends without serving: a sentence and a status of sysexits.h.
public struct ExitFailure: Error, Equatable, Sendable {
    public var status: Int32
    public var message: String

    public init(status: Int32, _ message: String) {
        self.status = status
        self.message = message
    }

    public static func usage(_ failure: UsageFailure) -> ExitFailure {
        ExitFailure(status: 64, "\(failure); see bandferry-ingest --help")
    }

    public static func store(_ failure: StorageFailure) -> ExitFailure {
        switch failure.kind {
        case .damaged:
            ExitFailure(status: 65, "the store is damaged; restore it from a copy: \(failure.message)")
        case .incompatible:
            ExitFailure(status: 65, failure.message)
        case .unavailable, .overloaded, .defect:
            ExitFailure(status: 74, "the store can't be used: \(failure.message)")
        }
    }
}

extension IngestOptions {
    /// Starts what the options ask for. The caller stops the server.
    public func start(
        report: @escaping @Sendable (ServiceEvent) -> Void
    ) async throws(ExitFailure) -> IngestServer {
        guard listen.isLoopback || allowsPlainHTTP else {
            throw ExitFailure(
                status: 78,
                "\(listen) is not loopback and this server speaks plain HTTP: put a TLS proxy before it, "
                    + "or give --allow-plain-http")
        }
        let tokens: TokenTable
        do {
            tokens = try TokenFile.read(tokenFile)
        } catch {
            throw ExitFailure(status: 78, "token file \(tokenFile): \(error)")
        }
        let page: Dashboard
        do {
            page = try Dashboard.read(dashboard, program: FileBytes.program)
        } catch {
            throw ExitFailure(status: 78, "dashboard: \(error)")
        }
        let storage: SQLiteIngestStorage
        do {
            storage = try await SQLiteIngestStorage(path: storePath)
        } catch {
            throw .store(error)
        }
        let service = IngestService(
            storage: storage, tokens: tokens, requestsPerMinute: requestsPerMinute,
            dashboard: page.files, report: report)
        do {
            let server = try IngestServer(service: service, storage: storage, address: listen)
            for note in page.notes { report(.dashboard(note)) }
            return server
        } catch {
            await storage.close()
            throw ExitFailure(status: 69, "\(error)")
        }
    }
}
