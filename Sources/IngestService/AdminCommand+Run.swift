import Glibc
import IngestAPI
import IngestStore

extension AdminCommand {
    /// What is for standard output, and what is for people beside it.
    public struct Result: Equatable, Sendable {
        public var output = ""
        public var note = ""
    }

    /// `report`: why the store takes its time, a line of text for people.
    public func run(
        now: @Sendable () -> APITime = WallClock.now,
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ExitFailure) -> Result {
        let storage = try await open(report: report)
        do throws(ExitFailure) {
            let result = try await run(in: storage, now: now)
            await storage.close()
            return result
        } catch {
            await storage.close()
            throw error
        }
    }

    /// The store for a command, and for nothing beside it. Only a new account makes one: a file that a mistyped path would
    /// make is empty, and looks like the answer.
    func open(
        report: @escaping @Sendable (String) -> Void = { _ in }
    ) async throws(ExitFailure) -> DatabaseStorage {
        if case .sqlite(let path) = store {
            let code = access(path, R_OK | W_OK) == 0 ? 0 : errno
            if let failure = Self.failure(at: path, code, makesStore: action.makesStore) { throw failure }
        }
        do {
            return try await DatabaseStorage(store, retention: nil) { report("\($0)") }
        } catch {
            throw .store(error)
        }
    }

    /// Why the file at a path is of no use. `code`: what the system says of it, 0 = it can be read and written.
    static func failure(at path: String, _ code: Int32, makesStore: Bool) -> ExitFailure? {
        let reason = String(cString: strerror(code))
        switch code {
        case 0: return nil
        case ENOENT, ENOTDIR:
            // Who makes it is told what is in the way then.
            if makesStore { return nil }
            return ExitFailure(
                status: 74,
                "there is no store \(path): check --store; bandferry-ingest account create makes one where there is none"
            )
        case EACCES, EPERM:
            return ExitFailure(
                status: 74,
                "the store \(path) is not for this user: \(reason); run this as the user that the server runs as, "
                    + "such as sudo -u bandferry-ingest"
            )
        default:
            return ExitFailure(
                status: 74,
                "the store \(path) can't be looked at: \(reason); check --store and what it lies on")
        }
    }

    func run(in storage: any TokenStorage, now: @Sendable () -> APITime) async throws(ExitFailure) -> Result {
        do {
            switch action {
            case .createAccount(let name):
                let isNew = try await storage.createAccount(name)
                return Result(note: isNew ? "account \(name) is made" : "account \(name) was there already")
            case .listAccounts:
                return Result(output: try await storage.accounts().map { $0 + "\n" }.joined())
            case .listTokens(let account):
                return Result(output: TokenList.text(try await storage.tokens(account: account)))
            case .revokeToken(let id):
                guard let token = try await storage.revokeToken(id: id, at: now()) else {
                    throw ExitFailure(status: 1, "there is no token \(id); see bandferry-ingest token list")
                }
                return Result(
                    note:
                        "token \(token.id) of account \(token.account) is revoked; a running server refuses it "
                        + "within ten seconds")
            case .createToken(let account, let role, let label, let output):
                return try await create(
                    account: account, role: role, label: label, output: output, in: storage, now: now())
            }
        } catch let failure as ExitFailure {
            throw failure
        } catch let failure as StorageFailure {
            throw .store(failure)
        } catch let failure as TokenTextFailure {
            throw ExitFailure(status: 74, "the system gives no random bytes: \(failure.reason)")
        } catch {
            throw ExitFailure(status: 70, "unexpected")
        }
    }

    private func create(
        account: String, role: Role, label: String?, output: String?, in storage: any TokenStorage,
        now: APITime
    ) async throws -> Result {
        guard try await storage.accounts().contains(account) else {
            throw ExitFailure(
                status: 1, "there is no account \(account); make it with bandferry-ingest account create")
        }
        let text = try TokenText.make()
        // First the file: a token that is stored and that nobody has would have to be found and revoked.
        if let output {
            do throws(SecretFileFailure) {
                try SecretFile.make(output, text + "\n")
            } catch {
                throw ExitFailure(status: 73, "\(output): \(error)")
            }
        }
        do {
            let id = try await add(text, account: account, role: role, label: label, in: storage, now: now)
            let place = output.map { ", written to \($0)" } ?? ""
            return Result(
                output: output == nil ? text + "\n" : "",
                note: "token \(id) of account \(account), role \(role.rawValue)\(place)")
        } catch {
            if let output { SecretFile.remove(output) }
            throw error
        }
    }

    /// The token's id. Of a million tokens one new id in four thousand is taken: another one is tried then.
    private func add(
        _ text: String, account: String, role: Role, label: String?, in storage: any TokenStorage,
        now: APITime
    ) async throws -> String {
        let digest = SHA256.digest(Array(text.utf8))
        var tries = 0
        while true {
            let id = try TokenText.makeID()
            tries += 1
            do throws(StorageFailure) {
                try await storage.addToken(
                    StoredToken(
                        id: id, account: account, role: role, label: label, digest: digest, createdAt: now))
                return id
            } catch {
                guard error.kind == .defect, tries < 4 else { throw error }
            }
        }
    }
}

/// Tokens for people to read, one a line.
enum TokenList {
    static func text(_ tokens: [StoredToken]) -> String {
        let rows =
            [["ID", "ACCOUNT", "ROLE", "CREATED", "REVOKED", "LABEL"]]
            + tokens.map { token in
                [
                    token.id, token.account, token.role.rawValue, token.createdAt.description,
                    token.revokedAt?.description ?? "-", token.label ?? "",
                ]
            }
        var widths = [Int](repeating: 0, count: 6)
        for row in rows {
            for (column, cell) in row.enumerated() { widths[column] = max(widths[column], cell.count) }
        }
        return rows.map { row in
            let cells = zip(row, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
            var line = cells.joined(separator: "  ")
            while line.last == " " { line.removeLast() }
            return line + "\n"
        }.joined()
    }
}
