/// What a person asks of the upload.
public enum UploadCommand: Equatable, Sendable {
    case status
    /// Seconds to wait for what goes up; 0 = it is only begun.
    case now(wait: Int)
    /// Seconds; nil = until `resume`.
    case pause(for: Int?)
    case resume
    /// Nil = of every band.
    case retry(band: String?)
}
