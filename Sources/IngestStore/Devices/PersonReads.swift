import IngestAPI

/// Persons, and the devices that they wore.
struct PersonReads {
    let session: any SQLSession

    /// In the order of their names.
    func devices(of person: String, account: String) throws(StorageFailure) -> [DeviceKey] {
        let call = SQLCall(AccountStatement.personDevices, .text(account), .text(person))
        return try session.rows(call).map { row throws(StorageFailure) in
            DeviceKey(account: account, name: try row.text(0))
        }
    }

    func record(_ person: String, account: String) throws(StorageFailure) -> PersonRecord? {
        let row = try session.first(SQLCall(AccountStatement.person, .text(account), .text(person)))
        return try row?.optionalText(0).map { text throws(StorageFailure) in try JSONColumn.value(text) }
    }

    func list(account: String) throws(StorageFailure) -> [PersonEntry] {
        var devices: [OpaqueID: [String]] = [:]
        for row in try session.list(.allPersonDevices, account) {
            devices[OpaqueID(try row.text(0)), default: []].append(try row.text(1))
        }
        return try session.list(.persons, account).map {
            row throws(StorageFailure) in
            let record: PersonRecord? = try row.optionalText(1).map { text throws(StorageFailure) in
                try JSONColumn.value(text)
            }
            let person = try row.text(0)
            return PersonEntry(
                person: person, label: record?.label, zones: record?.zones ?? [],
                devices: devices[OpaqueID(person)] ?? [])
        }
    }

    static func put(
        _ record: PersonRecord, _ person: String, account: String
    ) throws(StorageFailure) -> WriteJob<Void> {
        let text = try JSONColumn.text(record)
        return WriteJob { _, _ in
            Decision(
                value: (),
                writes: [SQLCall(AccountStatement.putPerson, .text(account), .text(person), .text(text))])
        }
    }
}
