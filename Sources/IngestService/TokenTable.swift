import IngestAPI
import IngestStore

/// Tokens and whom they stand for, kept as digests: a memory dump shows none, and the time that a look-up
/// takes depends on the digest alone.
public struct TokenTable: Sendable {
    private var identities: [[UInt8]: Identity] = [:]

    public static let defaultAccount = "default"

    public init(_ tokens: [String: Identity] = [:]) {
        for (token, identity) in tokens { identities[SHA256.digest(Array(token.utf8))] = identity }
    }

    public var isEmpty: Bool { identities.isEmpty }

    public func identity(token: some StringProtocol) -> Identity? {
        identity(digest: SHA256.digest(Array(token.utf8)))
    }

    func identity(digest: [UInt8]) -> Identity? { identities[digest] }

    /// Reads a token file's text: `TOKEN [ACCOUNT [ROLE]]` a line; empty lines and those that begin with `#`
    /// are skipped, and so is a byte order mark. Errors name the line, never a token.
    public init(text: String) throws(TokenFileFailure) {
        // By scalars, of which a mark and the letter after it are two.
        let isMarked = text.unicodeScalars.first == "\u{feff}"
        let lines = Substring(text.unicodeScalars.dropFirst(isMarked ? 1 : 0))
            .split(omittingEmptySubsequences: false, whereSeparator: \.isNewline)
        for (number, line) in zip(1..., lines) {
            let words = line.split(whereSeparator: \.isWhitespace)
            guard let token = words.first, !token.hasPrefix("#") else { continue }
            guard words.count <= 3 else {
                throw .line(number, "there is more than a token, an account and a role")
            }
            guard token.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
                throw .line(number, "the token has other characters than visible ASCII")
            }
            let account = words.count > 1 ? String(words[1]) : Self.defaultAccount
            guard AccountName.isValid(account) else { throw .line(number, AccountName.rule) }
            guard let role = words.count > 2 ? Role(rawValue: String(words[2])) : .gateway else {
                throw .line(number, "the role is not gateway or read")
            }
            let digest = SHA256.digest(Array(token.utf8))
            guard identities.updateValue(Identity(account: account, role: role), forKey: digest) == nil else {
                throw .line(number, "the token is there twice")
            }
        }
        guard !isEmpty else { throw .empty }
    }
}

/// Why tokens could not be read.
public enum TokenFileFailure: Error, Equatable, Sendable, CustomStringConvertible {
    case line(Int, String)
    case empty
    case file(SecretFileFailure)

    public var description: String {
        switch self {
        case .line(let number, let reason): "line \(number): \(reason)"
        case .empty: "it holds no token"
        case .file(let failure): "\(failure)"
        }
    }
}

/// What an account may be called, in the store and in token files.
enum AccountName {
    static let rule = "an account's name is 1 to 64 of A-Z a-z 0-9 _ . -"

    static func isValid(_ text: some StringProtocol) -> Bool { IngestAPI.isDeviceID(text) }
}
