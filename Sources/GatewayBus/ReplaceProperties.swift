import BandProfile
import DBus
import GatewayModel

// As in StatusProperties.swift: pure both ways; what is absent or of another type is nil.

extension ServerBand {
    var properties: BusProperties {
        var result: BusProperties = [
            "DeviceID": .string(device.text), "Samples": .uint64(UInt64(clamping: samples)),
        ]
        result["Address"] = address.map { .string($0.description) }
        result["LastContact"] = lastContact?.bus
        result["LastRecordedAt"] = lastRecordedAt?.bus
        result["Mode"] = mode.map { .string($0.rawValue) }
        result["Lease"] = lease.map { .properties($0.properties) }
        return result
    }

    init?(_ properties: BusProperties) {
        guard let device = properties.string("DeviceID").flatMap({ DeviceID($0) }) else { return nil }
        self.init(
            device: device, address: properties.string("Address").flatMap { BluetoothAddress($0) },
            lastContact: properties.timestamp("LastContact"),
            lastRecordedAt: properties.timestamp("LastRecordedAt"),
            samples: properties.integer("Samples") ?? 0,
            mode: properties.string("Mode").flatMap { BandMode(rawValue: $0) },
            lease: properties.dictionary("Lease").flatMap { BandLease($0) })
    }
}

extension ReplaceRequest {
    var options: BusProperties {
        var result: BusProperties = [
            "All": .bool(isEverything), "DryRun": .bool(isDryRun), "Force": .bool(isForced),
        ]
        result["Address"] = address.map { .string($0.description) }
        return result
    }

    /// What a caller sent, judged.
    init(bands: [String], options: BusProperties) throws(CommandFailure) {
        for band in bands { _ = try bandName(band) }
        self.init(bands: bands)
        for (key, value) in options {
            switch (key, value) {
            case ("All", .bool(let flag)): isEverything = flag
            case ("DryRun", .bool(let flag)): isDryRun = flag
            case ("Force", .bool(let flag)): isForced = flag
            case ("Address", .string(let text)):
                guard let address = BluetoothAddress(text) else {
                    throw CommandFailure(.invalidArguments, "not an address; write it as F0:F1:F2:F3:F4:F5")
                }
                self.address = address
            default: throw unknownOption(key)
            }
        }
        guard isEverything == bands.isEmpty else {
            throw CommandFailure(.invalidArguments, "name bands, or say All, not both")
        }
        guard address == nil || bands.count == 1 else {
            throw CommandFailure(.invalidArguments, "Address is for one band")
        }
    }
}

extension ReplaceReport {
    var properties: BusProperties {
        var result: BusProperties = [
            "DeviceID": .string(device.text), "Outcome": .string(outcome.rawValue),
            "Rings": .array(element: "a{sv}", rings.map { .properties($0.properties) }),
            "MaxVersion": .uint64(UInt64(clamping: maxVersion)), "Gaps": .uint64(UInt64(clamping: gaps)),
            "Persons": .uint64(UInt64(clamping: persons)),
        ]
        result["Address"] = address.map { .string($0.description) }
        result["Lease"] = lease.map { .properties($0.properties) }
        result["Problem"] = problem.map { .properties($0.properties) }
        result["Person"] = wearer.map { .string($0.person.text) }
        result["PersonName"] = wearer.map { .string($0.name) }
        result["WornUntil"] = wearer?.until.bus
        return result
    }

    init?(_ properties: BusProperties) {
        guard let device = properties.string("DeviceID").flatMap({ DeviceID($0) }),
            let outcome = properties.string("Outcome").flatMap({ Outcome(rawValue: $0) })
        else { return nil }
        self.init(
            device: device, address: properties.string("Address").flatMap { BluetoothAddress($0) },
            outcome: outcome)
        rings = properties.list("Rings").compactMap { Ring($0) }
        maxVersion = properties.integer("MaxVersion") ?? 0
        gaps = properties.integer("Gaps") ?? 0
        persons = properties.integer("Persons") ?? 0
        lease = properties.dictionary("Lease").flatMap { BandLease($0) }
        problem = properties.dictionary("Problem").flatMap { Problem($0) }
        if let person = properties.string("Person").flatMap({ PersonID($0) }),
            let until = properties.timestamp("WornUntil")
        {
            wearer = Wearer(
                person: person, name: properties.string("PersonName") ?? person.text, until: until)
        }
    }
}

extension ReplaceReport.Ring {
    var properties: BusProperties {
        var result: BusProperties = ["Ring": .string(ring.description), "NextSeq": .uint32(nextSeq)]
        result["CompleteThrough"] = completeThrough.map { .uint32($0) }
        return result
    }

    init?(_ properties: BusProperties) {
        guard let ring = properties.string("Ring").flatMap({ RingID($0) }),
            let next = properties.integer("NextSeq").flatMap({ UInt32(exactly: $0) })
        else { return nil }
        self.init(
            ring: ring,
            completeThrough: properties.integer("CompleteThrough").flatMap { UInt32(exactly: $0) },
            nextSeq: next)
    }
}
