import CivilTime
import IngestAPI

/// Whose samples of one type a trend is made of. Every statement about one names its device.
struct TrendSubject: Hashable, Sendable {
    let device: DeviceKey
    /// Nil = all samples of the device, whoever wore it.
    let person: OpaqueID?
    let type: APISampleType

    /// No person has an empty id.
    var personValue: SQLValue { .text(person?.text ?? "") }
}
