import UploadDecisions

/// The bearer token, read again when its file changes: one word.
struct TokenFile {
    typealias Stamp = SecretFile.Stamp
    typealias Fault = SecretFile.Fault

    private let file: SecretFile

    init(path: String) { file = SecretFile(path: path) }

    /// Nil when there is no such file.
    func stamp() -> Stamp? { file.stamp() }

    /// Reads it and says which state it was read in.
    func read() -> Result<(token: String, stamp: Stamp), Fault> {
        file.readLine().flatMap { read in
            read.line.contains(" ") ? .failure(Fault(.malformed)) : .success((read.line, read.stamp))
        }
    }
}
