import IngestAPI
import SQLite

/// Who owns a band, by this server's clock.
struct LeaseTable {
    let database: Database
    let now: APITime

    /// A gateway that asks for longer gets this much and must ask again.
    static let longestSeconds = 7 * 86_400

    /// Nil = free, or expired.
    func current(device: Int64) throws -> LeaseAnswer? {
        let row = try database.first(
            "SELECT lease_holder, lease_expires_ms FROM devices WHERE id = ?", .integer(device)
        ) { ($0.optionalText(0), $0.optionalInt64(1)) }
        guard let row, let holder = row.0, let expires = row.1, expires > now.milliseconds else { return nil }
        return LeaseAnswer(holder: holder, expiresAt: APITime(milliseconds: expires))
    }

    func request(_ request: LeaseRequest, device: Int64) throws -> LeaseDecision {
        if let current = try current(device: device), current.holder != request.gatewayID {
            return .held(current)
        }
        let seconds = min(request.ttlSeconds, Self.longestSeconds)
        let expires = APITime(milliseconds: now.milliseconds + Int64(seconds) * 1000)
        try set(request.gatewayID, expires, device: device)
        return .granted(LeaseAnswer(holder: request.gatewayID, expiresAt: expires))
    }

    func release(gateway: String, device: Int64) throws -> LeaseAnswer {
        let current = try current(device: device)
        if let current, current.holder != gateway { return current }
        try set(nil, nil, device: device)
        return LeaseAnswer(holder: nil, expiresAt: nil)
    }

    private func set(_ holder: String?, _ expires: APITime?, device: Int64) throws {
        try database.run(
            "UPDATE devices SET lease_holder = ?, lease_expires_ms = ? WHERE id = ?", .optional(holder),
            .optional(expires?.milliseconds), .integer(device))
    }
}
