import IngestAPI
import IngestStore

/// What an operator does to accounts and tokens.
public struct AdminCommand: Equatable, Sendable {
    enum Action: Equatable, Sendable {
        case createAccount(String)
        case listAccounts
        case createToken(account: String, role: Role, label: String?, output: String?)
        /// Nil = of all accounts.
        case listTokens(account: String?)
        case revokeToken(id: String)

        var makesStore: Bool {
            if case .createAccount = self { true } else { false }
        }
    }

    var action: Action
    var store: StorageLocation

    init(account arguments: ArraySlice<String>) throws(UsageFailure) {
        let reader = try OptionReader(arguments.dropFirst(), options: ["--store"])
        switch arguments.first {
        case "create":
            action = .createAccount(try Self.name(try Self.word(reader, "an account's name")))
        case "list":
            try Self.noWord(reader)
            action = .listAccounts
        default: throw UsageFailure("account: say create or list")
        }
        store = try reader.store()
    }

    init(token arguments: ArraySlice<String>) throws(UsageFailure) {
        let rest = arguments.dropFirst()
        let reader: OptionReader
        switch arguments.first {
        case "create":
            reader = try OptionReader(
                rest, options: ["--store", "--account", "--role", "--label", "--output"])
            try Self.noWord(reader)
            let role = try reader.required("--role")
            guard let role = Role(rawValue: role) else {
                throw UsageFailure("--role \(role): not gateway or read")
            }
            action = .createToken(
                account: try Self.name(try reader.required("--account")), role: role,
                label: try Self.label(reader.optional("--label")), output: reader.optional("--output"))
        case "list":
            reader = try OptionReader(rest, options: ["--store", "--account"])
            try Self.noWord(reader)
            action = .listTokens(account: reader.optional("--account"))
        case "revoke":
            reader = try OptionReader(rest, options: ["--store"])
            action = .revokeToken(id: try Self.word(reader, "a token's id, as token list shows it"))
        default: throw UsageFailure("token: say create, list or revoke")
        }
        store = try reader.store()
    }

    private static func word(_ reader: OptionReader, _ what: String) throws(UsageFailure) -> String {
        guard let word = reader.words.first, reader.words.count == 1 else {
            throw UsageFailure("give \(what), and one only")
        }
        return word
    }

    private static func noWord(_ reader: OptionReader) throws(UsageFailure) {
        if let word = reader.words.first { throw UsageFailure("\(word) is not wanted here") }
    }

    private static func name(_ text: String) throws(UsageFailure) -> String {
        guard AccountName.isValid(text) else { throw UsageFailure("\(text): \(AccountName.rule)") }
        return text
    }

    private static func label(_ text: String?) throws(UsageFailure) -> String? {
        guard let text else { return nil }
        guard IngestAPI.isOpaqueID(text) else {
            throw UsageFailure("--label: it is 1 to 128 bytes without control characters")
        }
        return text
    }
}
