import IngestAPI
import SQLite

/// Stores one batch inside a transaction and counts what became of each sample.
struct BatchWriter {
    private let database: Database
    private let batch: ReceivedBatch
    private let account: String
    private let device: Int64
    private let ring: Int64
    private let now: APITime
    private var answer: BatchAnswer
    private var persons: [String: Int64] = [:]
    private var newKeys: [APISampleType: (count: Int, maxSeq: UInt32)] = [:]
    private var maxVersion = 0
    private var touched = TouchedDays()

    private init(database: Database, batch: ReceivedBatch, account: String, now: APITime) throws {
        self.database = database
        self.batch = batch
        self.account = account
        self.now = now
        answer = BatchAnswer(syncID: batch.syncID)
        device = try Names(database: database).makeDevice(batch.deviceID, account: account)
        ring = RingCode.number(batch.ring)
    }

    static func store(
        _ batch: ReceivedBatch, account: String, in database: Database, now: APITime
    ) throws -> BatchAnswer {
        var writer = try BatchWriter(database: database, batch: batch, account: account, now: now)
        return try writer.run()
    }

    private mutating func run() throws -> BatchAnswer {
        try database.run(
            "INSERT INTO rings (device_id, ring, first_seen_ms) VALUES (?, ?, ?) ON CONFLICT DO NOTHING",
            .integer(device), .integer(ring), .integer(now.milliseconds))
        let insert = try database.statement(SampleRow.insert)
        // In order: a key repeated inside a batch meets what came before it.
        for (index, result) in batch.samples.enumerated() {
            switch result {
            case .success(let sample): try store(sample, at: index, insert)
            case .failure(let rejection):
                answer.rejected.append(
                    BatchAnswer.Rejected(
                        index: index, code: rejection.code.rawValue, message: rejection.message))
            }
        }
        try noteNewKeys()
        try noteCompleteness()
        try touched.write(device: device, in: database)
        answer.ackSeq = try RingTable(database: database).ackSeq(device: device, ring: ring)
        return answer
    }

    private mutating func store(_ sample: APISample, at index: Int, _ insert: Statement) throws {
        let person = try personID(sample.person)
        maxVersion = max(maxVersion, sample.version)
        try SampleRow.bind(sample, device: device, ring: ring, person: person, to: insert)
        try insert.run()
        if database.changes == 1 {
            answer.accepted += 1
            let known = newKeys[sample.type] ?? (0, 0)
            newKeys[sample.type] = (known.count + 1, max(known.maxSeq, sample.seq))
            if let place = TrendPlace(sample, person: person) { touched.insert(place) }
            return
        }
        let known = try SampleRow.known(sample, device: device, ring: ring, in: database)
        switch KeyRule(known: known, incoming: sample) {
        case .duplicate:
            answer.duplicates += 1
        case .refined:
            answer.duplicates += 1
            try replaceDerived(sample, person: person, of: known)
        case .corrected:
            answer.corrected += 1
            try replaceDerived(sample, person: person, of: known)
        case .conflict:
            answer.conflicts.append(
                BatchAnswer.Conflict(index: index, type: sample.type.rawValue, seq: sample.seq))
            try SampleRow.keepBeside(
                sample, device: device, ring: ring, person: person, now: now, in: database)
        }
    }

    private mutating func replaceDerived(_ sample: APISample, person: Int64?, of known: StoredRaw) throws {
        try SampleRow.replaceDerived(sample, device: device, ring: ring, person: person, in: database)
        let after = TrendPlace(sample, person: sample.person == .unchanged ? known.person : person)
        guard known.place != after else { return }
        for place in [known.place, after] { if let place { touched.insert(place) } }
    }

    private mutating func personID(_ field: PersonField) throws -> Int64? {
        guard case .assigned(let person) = field else { return nil }
        if let known = persons[person] { return known }
        let names = Names(database: database)
        let made = try names.makePerson(person, account: account)
        try names.notePerson(made, on: device)
        persons[person] = made
        return made
    }

    private func noteNewKeys() throws {
        for (type, new) in newKeys {
            try database.run(
                """
                INSERT INTO ring_types (device_id, ring, type, max_seq, keys) VALUES (?, ?, ?, ?, ?)
                ON CONFLICT DO UPDATE
                SET max_seq = max(max_seq, excluded.max_seq), keys = keys + excluded.keys
                """,
                .integer(device), .integer(ring), .int(type.code), .int(new.maxSeq), .int(new.count))
        }
        if maxVersion > 0 {
            try database.run(
                "UPDATE devices SET max_version = ?2 WHERE id = ?1 AND max_version < ?2", .integer(device),
                .int(maxVersion))
        }
    }

    /// Raises the ring's `complete_through`, never lowers it.
    ///
    /// The claim reads "in this or an earlier confirmed batch", and a rejected sample is not confirmed: what
    /// is claimed at or above the first of them is left out, since another gateway may let the band free it.
    private func noteCompleteness() throws {
        guard var through = batch.completeThrough else { return }
        for case .failure(let rejection) in batch.samples {
            guard let seq = rejection.seq else { return }
            through = min(through, seq - 1)
        }
        try database.run(
            """
            UPDATE rings SET complete_through = ?3
            WHERE device_id = ?1 AND ring = ?2 AND (complete_through IS NULL OR complete_through < ?3)
            """,
            .integer(device), .integer(ring), .int(through))
    }
}
