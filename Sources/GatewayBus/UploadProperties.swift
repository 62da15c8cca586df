import BandProfile
import DBus
import GatewayModel

// As in StatusProperties.swift: pure both ways; what is absent or of another type is nil.

extension UploadStatus {
    var properties: BusProperties {
        var result: BusProperties = [
            "State": .string(state.rawValue), "Pending": .uint64(UInt64(clamping: pending)),
            "InFlight": .uint64(UInt64(clamping: inFlight)),
            "Bands": .array(element: "a{sv}", bands.map { .properties($0.properties) }),
        ]
        result["URL"] = url.map { .string($0) }
        result["Pause"] = pause.map { .properties($0.properties) }
        result["WaitsUntil"] = waitsUntil?.bus
        switch metered {
        case .hours(let until):
            result["Metered"] = .string("hours")
            result["MeteredUntil"] = .uint16(UInt16(clamping: until))
        case .connection: result["Metered"] = .string("connection")
        case nil: break
        }
        result["LastSuccess"] = lastSuccess?.bus
        result["LastErrorCode"] = lastErrorCode.map { .string($0) }
        result["LastErrorAt"] = lastErrorAt?.bus
        result["Problem"] = problem.map { .properties($0.properties) }
        return result
    }

    init(_ properties: BusProperties) {
        self.init(
            state: properties.string("State").flatMap { State(rawValue: $0) } ?? .waiting,
            url: properties.string("URL"))
        pending = properties.integer("Pending") ?? 0
        inFlight = properties.integer("InFlight") ?? 0
        pause = properties.dictionary("Pause").flatMap { UploadPause($0) }
        waitsUntil = properties.timestamp("WaitsUntil")
        switch properties.string("Metered") {
        case "hours": metered = .hours(until: properties.integer("MeteredUntil") ?? 0)
        case "connection": metered = .connection
        default: metered = nil
        }
        lastSuccess = properties.timestamp("LastSuccess")
        lastErrorCode = properties.string("LastErrorCode")
        lastErrorAt = properties.timestamp("LastErrorAt")
        problem = properties.dictionary("Problem").flatMap { Problem($0) }
        bands = properties.list("Bands").compactMap { UploadBand($0) }
    }
}

extension UploadPause {
    var properties: BusProperties {
        var result: BusProperties = ["Since": since.bus]
        result["Until"] = until?.bus
        return result
    }

    init?(_ properties: BusProperties) {
        guard let since = properties.timestamp("Since") else { return nil }
        self.init(since: since, until: properties.timestamp("Until"))
    }
}

extension UploadBand {
    var properties: BusProperties {
        var result: BusProperties = [
            "DeviceID": .string(device.text), "Address": .string(address.description),
            "Pending": .uint64(UInt64(clamping: pending)),
            "Kept": .array(element: "a{sv}", kept.map { .properties($0.properties) }),
        ]
        result["Name"] = name.map { .string($0) }
        return result
    }

    init?(_ properties: BusProperties) {
        guard let device = properties.string("DeviceID").flatMap({ DeviceID($0) }),
            let address = properties.string("Address").flatMap({ BluetoothAddress($0) })
        else { return nil }
        self.init(
            device: device, address: address, name: properties.string("Name"),
            pending: properties.integer("Pending") ?? 0,
            kept: properties.list("Kept").compactMap { KeptSamples($0) })
    }
}

extension KeptSamples {
    var properties: BusProperties {
        var result: BusProperties = [
            "Reason": .string(reason.rawValue), "Code": .string(code), "Ring": .string(ring.description),
            "Count": .uint64(UInt64(clamping: count)), "Ranges": .ranges(ranges),
        ]
        result["From"] = from?.bus
        result["To"] = to?.bus
        return result
    }

    init?(_ properties: BusProperties) {
        guard let reason = properties.string("Reason").flatMap({ Reason(rawValue: $0) }),
            let ring = properties.string("Ring").flatMap({ RingID($0) })
        else { return nil }
        self.init(
            reason: reason, code: properties.string("Code") ?? "", ring: ring,
            count: properties.integer("Count") ?? 0, ranges: properties.ranges("Ranges"),
            from: properties.timestamp("From"), to: properties.timestamp("To"))
    }
}

extension UploadReport {
    var properties: BusProperties {
        var result: BusProperties = [
            "Sent": .uint64(UInt64(clamping: sent)), "Left": .uint64(UInt64(clamping: left)),
            "Cut": .bool(isCut),
        ]
        result["Problem"] = problem.map { .properties($0.properties) }
        result["WaitsUntil"] = waitsUntil?.bus
        return result
    }

    init(_ properties: BusProperties) {
        self.init(
            sent: properties.integer("Sent") ?? 0, left: properties.integer("Left") ?? 0,
            problem: properties.dictionary("Problem").flatMap { Problem($0) },
            waitsUntil: properties.timestamp("WaitsUntil"), isCut: properties.bool("Cut") ?? false)
    }
}

// MARK: ranges of seqs

extension BusValue {
    /// `a(uu)`: first and last seq.
    static func ranges(_ ranges: [ClosedRange<UInt32>]) -> BusValue {
        .array(
            element: "(uu)", ranges.map { .structure([.uint32($0.lowerBound), .uint32($0.upperBound)]) })
    }
}

extension BusProperties {
    func ranges(_ key: String) -> [ClosedRange<UInt32>] {
        (self[key]?.elements ?? []).compactMap { value in
            guard let bounds = value.elements, bounds.count == 2,
                let first = bounds[0].integer.flatMap({ UInt32(exactly: $0) }),
                let last = bounds[1].integer.flatMap({ UInt32(exactly: $0) }), first <= last
            else { return nil }
            return first...last
        }
    }
}
