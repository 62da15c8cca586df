import GatewayModel
import IngestAPI
import Store
import UploadDecisions

/// Persons, before the samples that name them; a server that does not take them gets the samples all the same.
extension UploadWorker {
    /// What is known of persons since the start.
    struct PersonNotes {
        var readAt: [PersonID: Duration] = [:]
        /// The server refused them: not before then.
        var restsUntil: [PersonID: Duration] = [:]
        /// Read and merged, to be put next.
        var toPut: (record: PersonRecord, person: Person)?
    }

    /// False = there is nothing to do for a person now.
    func syncPersons(_ outbox: any UploadOutbox, token: String, now: Duration) throws -> Bool {
        if let next = personNotes.toPut {
            personNotes.toPut = nil
            try put(next.record, of: next.person, outbox, token: token, now: now)
            return true
        }
        guard personReads.isDue(now: now) else { return false }
        let isWanted: (SyncedPerson) -> Bool = { synced in
            let id = synced.person.id
            if let rests = self.personNotes.restsUntil[id], rests > now { return false }
            if synced.isUnsent, self.personWrites.isDue(now: now) { return true }
            return self.personNotes.readAt[id].map { now >= $0 + self.settings.intervals.persons } ?? true
        }
        guard let next = try outbox.persons().first(where: isWanted) else { return false }
        try read(next.person.id, outbox, token: token, now: now)
        return true
    }

    private func read(_ id: PersonID, _ outbox: any UploadOutbox, token: String, now: Duration) throws {
        let (decision, record) = StatusTable.decidePerson(server.person(id, token: token), wallTime: wallTime)
        guard ended(decision, of: id, \.personReads, now: now) else { return }
        let zones = (record?.zones ?? []).filter { IngestAPI.isZoneName($0.zone) }
        let stays = zones.map { ZoneStay(zone: $0.zone, from: Timestamp(milliseconds: $0.from.milliseconds)) }
        personNotes.readAt[id] = now
        guard let merged = try outbox.mergePerson(id, zones: stays) else { return }
        if merged.marked { hooks.storeMarked() }
        let person = merged.person.person
        // A name that somebody else shared is theirs to take back.
        let label = person.sharesName ? person.name : record?.label
        guard merged.person.isUnsent || record == nil || label != record?.label,
            personWrites.isDue(now: now)
        else { return }
        let all = person.zones.map { PersonRecord.Zone(zone: $0.zone, from: APITime($0.from)) }
        personNotes.toPut = (PersonRecord(label: label, zones: all), person)
    }

    private func put(
        _ record: PersonRecord, of person: Person, _ outbox: any UploadOutbox, token: String, now: Duration
    ) throws {
        let (decision, isShown) = StatusTable.decidePut(
            server.putPerson(record, person.id, token: token), wallTime: wallTime
        ) { PutProof.shows(record, $0) }
        // An answer that shows nothing ends no back-off, neither of the samples nor of the persons.
        let isDoubted = decision == .taken && !isShown
        guard !isDoubted || hasPerson(record, of: person.id, token: token, now: now) else {
            personNotes.restsUntil[person.id] = now + settings.intervals.refusedReport
            return
        }
        guard ended(decision, of: person.id, \.personWrites, now: now) else { return }
        guard decision == .taken else {
            personNotes.restsUntil[person.id] = now + settings.intervals.refusedReport
            return
        }
        try outbox.markPersonSent(person)
        board.log(.personSent)
    }

    /// The server says that it took the record, and not what it took.
    private func hasPerson(
        _ record: PersonRecord, of id: PersonID, token: String, now: Duration
    ) -> Bool {
        let (decision, answered) = StatusTable.decidePerson(
            server.person(id, token: token), wallTime: wallTime)
        return ended(decision, of: id, \.personReads, now: now) && answered == record
    }

    /// True = answered as it should be.
    private func ended(
        _ decision: UploadDecision, of id: PersonID,
        _ side: ReferenceWritableKeyPath<UploadWorker, SideSchedule>,
        now: Duration
    ) -> Bool {
        let wasForbidden = self[keyPath: side].isForbidden
        var waits = self[keyPath: side]
        let outcome = waits.ended(
            decision, device: "", schedule: &schedule, now: clock.monotonic, using: &random)
        self[keyPath: side] = waits
        if outcome == .refused { personNotes.restsUntil[id] = now + settings.intervals.refusedReport }
        if outcome == .refused || waits.isForbidden && !wasForbidden { board.log(.personRefused) }
        return outcome == .answered
    }
}
