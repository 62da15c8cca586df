/// Which device: by its name in an account, and by the number that its rows are kept under.
///
/// The number follows from the names, so nobody looks it up, and tables can be spread over machines by it.
struct DeviceKey: Hashable, Sendable {
    let account: String
    let name: String
    /// The first 16 bytes of a SHA-256.
    let id: [UInt8]

    init(account: String, name: String) {
        self.account = account
        self.name = name
        // A device's name holds no zero byte.
        id = Array(SHA256.digest(Array(account.utf8) + [0] + Array(name.utf8)).prefix(16))
    }

    var value: SQLValue { .bytes(id) }

    /// Two names with one number would mix up two people's samples: that must not happen, however unlikely it is.
    func check(account: String, name: String) throws(StorageFailure) {
        guard account == self.account, name == self.name else {
            throw StorageFailure(.defect, "two devices have the same number")
        }
    }

    /// Makes the device known, also where devices are looked up by account.
    var make: [SQLCall] {
        [
            SQLCall(DeviceStatement.make, value, .text(account), .text(name)),
            SQLCall(AccountStatement.noteDevice, .text(account), .text(name), value),
        ]
    }
}
