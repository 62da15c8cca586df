import IngestAPI

/// Whose samples of one type of a device a trend is made of.
struct TrendSubject: Hashable, Sendable {
    /// Nil = all samples of the device, whoever wore it.
    let person: OpaqueID?
    let type: APISampleType
}
