import GatewayModel
import IngestAPI
import Store

@testable import Uplink

/// What the fake remembers of other gateways.
struct Sharing {
    var toCompare: [Sample] = []
    var shared: Set<DeviceID> = []
    var sweeps: [DeviceID] = []
    /// Versions that the server was said to have seen.
    var floors: [DeviceID: [Int]] = [:]
    /// The server's samples that were offered.
    var offered: [Sample] = []
    /// What `adopt` says of a page.
    var report = AdoptionReport()
    var reports: [DeviceReport] = []
}

struct FakePerson {
    var person: Person
    var isUnsent = true
    /// What the server's zones were said to be.
    var seen: [[ZoneStay]] = []
}

extension FakeOutbox: SharingOutbox {
    func raiseVersions(of device: DeviceID, above maxVersion: Int, onlyNews: Bool) throws -> VersionNews {
        var news = VersionNews()
        try write { contents in
            let known = contents.sharing.floors[device]?.max() ?? 1
            news.isNews = maxVersion > known
            contents.sharing.floors[device, default: []].append(maxVersion)
            if onlyNews, !news.isNews { return }
            for (key, row) in contents.rows
            where key.device == device && row.state == .pending && row.sample.version > 1
                && row.sample.version <= maxVersion
            {
                contents.rows[key]?.sample.version = maxVersion + 1
                news.raised += 1
            }
        }
        return news
    }

    func nextComparison(limit: Int, skipping: Set<DeviceID>) throws -> PendingComparison? {
        try read { contents in
            let waiting = contents.sharing.toCompare.filter { !skipping.contains($0.device) }
            guard let first = waiting.first else { return nil }
            let part = waiting.filter { $0.device == first.device }.prefix(limit)
            let seqs = part.map(\.seq)
            return PendingComparison(
                device: first.device, ring: first.ring, seqs: (seqs.min() ?? 0)...(seqs.max() ?? 0),
                moments: part.map {
                    .init(
                        seq: $0.seq, time: $0.recordedAt,
                        boundMilliseconds: $0.timeBoundMilliseconds.map(Int64.init))
                })
        }
    }

    func endComparison(_ comparison: PendingComparison) throws {
        try write { contents in
            contents.sharing.toCompare.removeAll {
                $0.device == comparison.device && comparison.seqs.contains($0.seq)
            }
        }
    }

    func adopt(_ samples: [Sample], of device: DeviceID) throws -> AdoptionReport {
        var report = AdoptionReport()
        try write { contents in
            contents.sharing.offered += samples
            report = contents.sharing.report
            if report.adopted > 0 { contents.sharing.shared.insert(device) }
        }
        return report
    }

    func noteOthers(of device: DeviceID) throws { try write { $0.sharing.shared.insert(device) } }

    func isShared(_ device: DeviceID) throws -> Bool { try read { $0.sharing.shared.contains(device) } }

    func sweep(_ device: DeviceID, count: Int) throws -> Bool {
        try write { contents in
            contents.sharing.sweeps.append(device)
            contents.sharing.toCompare +=
                contents.rows.filter { $0.key.device == device && $0.value.state == .confirmed }.map(
                    \.value.sample)
        }
        return true
    }

    func noteSending(_ report: DeviceReport, of device: DeviceID) throws {
        try write { $0.sharing.reports.append(report) }
    }

    func noteTaken(_ report: DeviceReport, of device: DeviceID) throws {}

    func mayBeOurs(_ report: DeviceReport, of device: DeviceID) throws -> Bool {
        try read { $0.sharing.reports.suffix(2).contains(report) }
    }
}

extension FakeOutbox: PersonOutbox {
    func persons() throws -> [SyncedPerson] {
        try read { $0.persons.map { SyncedPerson(person: $0.person, isUnsent: $0.isUnsent) } }
    }

    func mergePerson(_ id: PersonID, zones: [ZoneStay]) throws -> (person: SyncedPerson, marked: Bool)? {
        var result: (SyncedPerson, Bool)?
        try write { contents in
            guard let index = contents.persons.firstIndex(where: { $0.person.id == id }) else { return }
            contents.persons[index].seen.append(zones)
            let known = contents.persons[index].person.zones
            let new = zones.filter { stay in !known.contains { $0.from == stay.from } }
            contents.persons[index].person.zones = (known + new).sorted { $0.from < $1.from }
            let person = contents.persons[index]
            result = (SyncedPerson(person: person.person, isUnsent: person.isUnsent), !new.isEmpty)
        }
        return result
    }

    func markPersonSent(_ person: Person) throws {
        try write { contents in
            guard let index = contents.persons.firstIndex(where: { $0.person.id == person.id }) else {
                return
            }
            if contents.persons[index].person == person { contents.persons[index].isUnsent = false }
        }
    }
}
