import IngestAPI

/// What gateways tell of a device beside samples and gaps.
enum DeviceJobs {
    static func putReport(_ report: DeviceReport, _ device: DeviceKey) throws(StorageFailure) -> WriteJob<
        Void
    > {
        let text = try JSONColumn.text(report)
        return WriteJob(device: device, makesDevice: true) { _, _ in
            Decision(value: (), writes: [SQLCall(DeviceStatement.putReport, device.value, .text(text))])
        }
    }

    static func requestLease(_ request: LeaseRequest, _ device: DeviceKey, now: APITime) -> WriteJob<
        LeaseDecision
    > {
        WriteJob(device: device, makesDevice: true) { row, _ in
            if let current = row?.lease(at: now), row?.leaseHolder != OpaqueID(request.gatewayID) {
                return Decision(value: .held(current))
            }
            let seconds = min(request.ttlSeconds, Lease.longestSeconds)
            let expires = APITime(milliseconds: now.milliseconds + Int64(seconds) * 1000)
            return Decision(
                value: .granted(LeaseAnswer(holder: request.gatewayID, expiresAt: expires)),
                writes: [
                    SQLCall(
                        DeviceStatement.putLease, device.value, .text(request.gatewayID),
                        .int(expires.milliseconds))
                ])
        }
    }

    /// Nil for a device that is not known.
    static func releaseLease(gateway: String, _ device: DeviceKey, now: APITime) -> WriteJob<LeaseAnswer?> {
        WriteJob(device: device) { row, _ in
            guard let row else { return Decision(value: nil) }
            if let current = row.lease(at: now), row.leaseHolder != OpaqueID(gateway) {
                return Decision(value: current)
            }
            return Decision(
                value: LeaseAnswer(holder: nil, expiresAt: nil),
                writes: [SQLCall(DeviceStatement.putLease, device.value, .null, .null)])
        }
    }
}

/// Who owns a band, by this server's clock.
enum Lease {
    /// A gateway that asks for longer gets this much and must ask again.
    static let longestSeconds = 7 * 86_400
}

extension DeviceRow {
    /// Nil = free, or expired.
    func lease(at now: APITime) -> LeaseAnswer? {
        guard let holder = leaseHolder, let expires = leaseExpires, expires > now.milliseconds else {
            return nil
        }
        return LeaseAnswer(holder: holder.text, expiresAt: APITime(milliseconds: expires))
    }
}

/// Values of the API that are kept as the JSON that they came as.
enum JSONColumn {
    static func text(_ value: some Encodable) throws(StorageFailure) -> String {
        guard let bytes = try? APIJSON.encode(value) else {
            throw StorageFailure(.defect, "a value can't be written as JSON")
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    static func value<Value: Decodable>(_ text: String) throws(StorageFailure) -> Value {
        do {
            return try APIJSON.decode(from: Array(text.utf8))
        } catch {
            throw StorageFailure(.damaged, "a stored JSON value can't be read")
        }
    }
}
