import BandProfile
import DBus
import GatewayModel

// As in StatusProperties.swift: pure both ways; what is absent or of another type is nil.

extension ReconcileReport {
    var properties: BusProperties {
        var result: BusProperties = [
            "DeviceID": .string(device.text), "Days": .uint64(UInt64(clamping: days)),
            "Differences": .array(element: "a{sv}", differences.map { .properties($0.properties) }),
            "DifferingDays": .uint64(UInt64(clamping: differingDays)),
            "Missing": .uint64(UInt64(clamping: missing)), "OnlyThere": .uint64(UInt64(clamping: onlyThere)),
            "Expired": .uint64(UInt64(clamping: expired)), "Waiting": .uint64(UInt64(clamping: waiting)),
            "Kept": .uint64(UInt64(clamping: kept)), "Marked": .bool(isMarked),
        ]
        result["ExpiredFrom"] = expiredDays.map { .int64($0.lowerBound) }
        result["ExpiredTo"] = expiredDays.map { .int64($0.upperBound) }
        result["Problem"] = problem.map { .properties($0.properties) }
        return result
    }

    init?(_ properties: BusProperties) {
        guard let device = properties.string("DeviceID").flatMap({ DeviceID($0) }) else { return nil }
        self.init(device: device, isMarked: properties.bool("Marked") ?? false)
        days = properties.integer("Days") ?? 0
        differences = properties.list("Differences").compactMap { DayDifference($0) }
        differingDays = properties.integer("DifferingDays") ?? 0
        missing = properties.integer("Missing") ?? 0
        onlyThere = properties.integer("OnlyThere") ?? 0
        expired = properties.integer("Expired") ?? 0
        waiting = properties.integer("Waiting") ?? 0
        kept = properties.integer("Kept") ?? 0
        if let from = properties.integer("ExpiredFrom"), let to = properties.integer("ExpiredTo"), from <= to
        {
            expiredDays = Int64(from)...Int64(to)
        }
        problem = properties.dictionary("Problem").flatMap { Problem($0) }
    }
}

extension DayDifference {
    var properties: BusProperties {
        [
            "Day": .int64(day), "Ring": .string(ring.description), "Type": .string(type.name),
            "Here": .uint64(UInt64(clamping: here)), "There": .uint64(UInt64(clamping: there)),
            "Missing": .uint64(UInt64(clamping: missing)), "MissingSeqs": .ranges(missingSeqs),
            "OnlyThere": .uint64(UInt64(clamping: onlyThere)),
            "Elsewhere": .uint64(UInt64(clamping: elsewhere)), "Unclear": .bool(isUnclear),
        ]
    }

    init?(_ properties: BusProperties) {
        guard let day = properties.integer("Day"),
            let ring = properties.string("Ring").flatMap({ RingID($0) }),
            let type = properties.string("Type").flatMap({ SampleType(name: $0) })
        else { return nil }
        self.init(
            day: Int64(day), ring: ring, type: type, here: properties.integer("Here") ?? 0,
            there: properties.integer("There") ?? 0, missing: properties.integer("Missing") ?? 0,
            missingSeqs: properties.ranges("MissingSeqs"), onlyThere: properties.integer("OnlyThere") ?? 0,
            elsewhere: properties.integer("Elsewhere") ?? 0, isUnclear: properties.bool("Unclear") ?? false)
    }
}

extension ReconcileProgress {
    var properties: BusProperties {
        [
            "DeviceID": .string(device.text), "Done": .uint32(UInt32(clamping: done)),
            "Total": .uint32(UInt32(clamping: total)),
        ]
    }

    init?(_ properties: BusProperties) {
        guard let device = properties.string("DeviceID").flatMap({ DeviceID($0) }) else { return nil }
        self.init(
            device: device, done: properties.integer("Done") ?? 0, total: properties.integer("Total") ?? 0)
    }
}
