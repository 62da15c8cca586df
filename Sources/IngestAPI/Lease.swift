/// The body of `PUT /v1/devices/{device_id}/lease`.
public struct LeaseRequest: Codable, Equatable, Sendable {
    public var gatewayID: String
    public var ttlSeconds: Int

    public init(gatewayID: String, ttlSeconds: Int) {
        self.gatewayID = gatewayID
        self.ttlSeconds = ttlSeconds
    }

    /// Nil when every field is within its definition.
    public var fault: APIFailure? {
        guard IngestAPI.isOpaqueID(gatewayID) else { return .malformed("gateway_id is not an id") }
        guard ttlSeconds > 0 else { return .malformed("ttl_s is not above 0") }
        return nil
    }

    enum CodingKeys: String, CodingKey {
        case gatewayID = "gateway_id"
        case ttlSeconds = "ttl_s"
    }

    public init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        gatewayID = try container.decode(String.self, forKey: .gatewayID)
        ttlSeconds = try container.whole(forKey: .ttlSeconds)
    }
}

/// Who owns a band and until when: the answer to a lease request, and part of a `lease_held` error.
///
/// Both are nil in the answer to a `DELETE` that leaves the band without an owner.
public struct LeaseAnswer: Codable, Equatable, Sendable {
    public var holder: String?
    public var expiresAt: APITime?

    public init(holder: String?, expiresAt: APITime?) {
        self.holder = holder
        self.expiresAt = expiresAt
    }

    enum CodingKeys: String, CodingKey {
        case holder
        case expiresAt = "expires_at"
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(holder, forKey: .holder)
        try container.encode(expiresAt, forKey: .expiresAt)
    }
}

/// The body of a 409: the error and, beside it, the fields of the answer.
public struct LeaseHeldBody: Codable, Equatable, Sendable {
    public var error: ErrorBody.Detail
    public var holder: String
    public var expiresAt: APITime

    public init(error: ErrorBody.Detail, holder: String, expiresAt: APITime) {
        self.error = error
        self.holder = holder
        self.expiresAt = expiresAt
    }

    enum CodingKeys: String, CodingKey {
        case error, holder
        case expiresAt = "expires_at"
    }
}
