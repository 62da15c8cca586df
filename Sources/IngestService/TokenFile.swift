/// Reads tokens from a file that nobody but its owner may read.
public enum TokenFile {
    public static func read(_ path: String) throws(TokenFileFailure) -> TokenTable {
        let bytes: [UInt8]
        do {
            bytes = try SecretFile.read(path)
        } catch {
            throw .file(error)
        }
        return try TokenTable(text: String(decoding: bytes, as: UTF8.self))
    }
}
