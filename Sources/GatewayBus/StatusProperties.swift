import BandProfile
import DBus
import GatewayModel

// Pure both ways: what is absent is nil, and what has an unexpected type is taken as absent, as a newer daemon
// may say more or other things than this client knows.

extension Timestamp {
    /// `x`: milliseconds since 1970-01-01T00:00:00Z.
    var bus: BusValue { .int64(milliseconds) }
}

extension Problem {
    var properties: BusProperties {
        var result: BusProperties = [
            "Code": .string(code), "Severity": .string(severity.rawValue), "Text": .string(text),
            "Remedy": .string(remedy),
        ]
        result["Since"] = since?.bus
        return result
    }

    init?(_ properties: BusProperties) {
        guard let code = properties.string("Code"), let text = properties.string("Text") else { return nil }
        self.init(
            code: code, text: text, remedy: properties.string("Remedy") ?? "",
            since: properties.timestamp("Since"))
    }
}

extension GatewayStatus {
    /// Of `org.bandferry.Gateway1`, `Scanning` left out.
    public var properties: BusProperties {
        var result: BusProperties = [
            "Version": .string(version),
            "StateDirectory": .string(stateDirectory),
            "Running": .bool(running),
            "Problems": .array(element: "a{sv}", problems.map { .properties($0.properties) }),
        ]
        result["UploadURL"] = uploadURL.map { .string($0) }
        result["LastUpload"] = lastUpload?.bus
        result["Reconciling"] = reconciling.map { .properties($0.properties) }
        return result
    }

    public init(_ properties: BusProperties, bands: [BandStatus]) {
        self.init(
            version: properties.string("Version") ?? "",
            stateDirectory: properties.string("StateDirectory") ?? "",
            running: properties.bool("Running") ?? true)
        uploadURL = properties.string("UploadURL")
        lastUpload = properties.timestamp("LastUpload")
        reconciling = properties.dictionary("Reconciling").flatMap { ReconcileProgress($0) }
        problems = properties.list("Problems").compactMap { Problem($0) }
        self.bands = bands
    }
}

extension BandStatus {
    /// Of `org.bandferry.Band1`.
    public var properties: BusProperties {
        var result: BusProperties = [
            "Address": .string(address.description),
            "DeviceID": .string(device.text),
            "Mode": .string(mode.rawValue),
            "Ack": .string(ack.rawValue),
            "Configured": .bool(configured),
            "Adopted": .bool(adopted),
            "Connected": .bool(connected),
            "Syncing": .bool(syncing),
            "Stored": .uint64(UInt64(clamping: stored)),
            "Pending": .uint64(UInt64(clamping: pending)),
            "Quarantined": .uint64(UInt64(clamping: quarantined)),
            "Conflicts": .uint64(UInt64(clamping: conflicts)),
            "Undecodable": .uint64(UInt64(clamping: undecodable)),
            "Gaps": .uint64(UInt64(clamping: gaps)),
        ]
        result["Name"] = name.map { .string($0) }
        result["MTU"] = mtu.map { .uint16(UInt16(clamping: $0)) }
        result["LastContact"] = lastContact?.bus
        result["Battery"] = battery.map { .byte(UInt8(clamping: $0)) }
        result["Firmware"] = firmware.map { .string($0) }
        result["Ring"] = ring.map { .string($0.description) }
        result["OldestSeq"] = oldestSeq.map { .uint32($0) }
        result["Capacity"] = capacity.map { .uint32($0) }
        result["NewestSeq"] = newestSeq.map { .uint32($0) }
        result["NewestRecordedAt"] = newestRecordedAt?.bus
        result["NextSeq"] = nextSeq.map { .uint32($0) }
        result["Recording"] = .string(recording.rawValue)
        result["Lease"] = lease.map { .properties($0.properties) }
        result["Problem"] = problem.map { .properties($0.properties) }
        return result
    }

    /// Nil without an address.
    public init?(_ properties: BusProperties) {
        guard let address = properties.string("Address").flatMap({ BluetoothAddress($0) }) else { return nil }
        self.init(
            address: address,
            device: properties.string("DeviceID").flatMap { DeviceID($0) } ?? DeviceID(address),
            mode: properties.string("Mode").flatMap { BandMode(rawValue: $0) } ?? .observe)
        ack = properties.string("Ack").flatMap { AckPolicy(rawValue: $0) } ?? .stored
        name = properties.string("Name")
        configured = properties.bool("Configured") ?? false
        adopted = properties.bool("Adopted") ?? true
        connected = properties.bool("Connected") ?? false
        syncing = properties.bool("Syncing") ?? false
        mtu = properties.integer("MTU")
        lastContact = properties.timestamp("LastContact")
        battery = properties.integer("Battery")
        firmware = properties.string("Firmware")
        ring = properties.string("Ring").flatMap { RingID($0) }
        oldestSeq = properties.integer("OldestSeq").flatMap { UInt32(exactly: $0) }
        capacity = properties.integer("Capacity").flatMap { UInt32(exactly: $0) }
        newestSeq = properties.integer("NewestSeq").flatMap { UInt32(exactly: $0) }
        newestRecordedAt = properties.timestamp("NewestRecordedAt")
        nextSeq = properties.integer("NextSeq").flatMap { UInt32(exactly: $0) }
        stored = properties.integer("Stored") ?? 0
        pending = properties.integer("Pending") ?? 0
        quarantined = properties.integer("Quarantined") ?? 0
        conflicts = properties.integer("Conflicts") ?? 0
        undecodable = properties.integer("Undecodable") ?? 0
        gaps = properties.integer("Gaps") ?? 0
        lease = properties.dictionary("Lease").flatMap { BandLease($0) }
        problem = properties.dictionary("Problem").flatMap { Problem($0) }
    }
}

extension BandLease {
    var properties: BusProperties {
        ["Ours": .bool(isOurs), "Holder": .string(holder), "Until": until.bus]
    }

    init?(_ properties: BusProperties) {
        guard let isOurs = properties.bool("Ours"), let until = properties.timestamp("Until") else {
            return nil
        }
        self.init(isOurs: isOurs, holder: properties.string("Holder") ?? "", until: until)
    }
}
