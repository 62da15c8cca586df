import IngestAPI

extension DatabaseStorage: TokenStorage {
    public func createAccount(_ account: String) async throws(StorageFailure) -> Bool {
        let make = SQLCall(AccountStatement.make, .text(account), .int(now().milliseconds))
        // What it returns tells whether it was new.
        let job = WriteJob<Bool>(reads: [make]) { _, results in
            Decision(value: results.first?.rows.isEmpty == false)
        }
        return try await writers.perform(job)
    }

    public func accounts() async throws(StorageFailure) -> [String] {
        try await states.perform { session throws(StorageFailure) in
            try session.rows(SQLCall(ServerStatement.accounts)).map { row throws(StorageFailure) in
                try row.text(0)
            }
        }
    }

    public func addToken(_ token: StoredToken) async throws(StorageFailure) {
        let call = SQLCall(
            AccountStatement.addToken, .text(token.account), .text(token.id), .bytes(token.digest),
            .text(token.role.rawValue), .optional(token.label), .int(token.createdAt.milliseconds))
        let job = WriteJob<Void> { _, _ in Decision(value: (), writes: [call]) }
        try await writers.perform(job)
    }

    public func tokens(account: String?) async throws(StorageFailure) -> [StoredToken] {
        let call =
            account.map { SQLCall(AccountStatement.tokens, .text($0)) } ?? SQLCall(ServerStatement.allTokens)
        return try await states.perform { session throws(StorageFailure) in
            try session.rows(call).map { row throws(StorageFailure) in try StoredToken(row) }
        }
    }

    public func revokeToken(
        id: String, at time: APITime
    ) async throws(StorageFailure) -> StoredToken? {
        let calls = [
            SQLCall(ServerStatement.revokeToken, .text(id), .int(time.milliseconds)),
            SQLCall(ServerStatement.tokenByID, .text(id)),
        ]
        let job = WriteJob<StoredToken?>(reads: calls) { _, results throws(StorageFailure) in
            let token = try results[1].rows.first.map { row throws(StorageFailure) in try StoredToken(row) }
            return Decision(value: token)
        }
        return try await writers.perform(job)
    }

    public func token(digest: [UInt8]) async throws(StorageFailure) -> StoredToken? {
        try await tokens.perform { session throws(StorageFailure) in
            try session.first(SQLCall(ServerStatement.token, .bytes(digest))).map {
                row throws(StorageFailure) in
                try StoredToken(row)
            }
        }
    }
}

extension StoredToken {
    fileprivate init(_ row: SQLRow) throws(StorageFailure) {
        guard let role = Role(rawValue: try row.text(2)) else {
            throw StorageFailure(.damaged, "the role of a token is not known")
        }
        self.init(
            id: try row.text(0), account: try row.text(1), role: role, label: try row.optionalText(3),
            digest: try row.bytes(4), createdAt: APITime(milliseconds: try row.int64(5)),
            revokedAt: try row.optionalInt64(6).map(APITime.init(milliseconds:)))
    }
}
