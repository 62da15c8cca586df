import CivilTime
import IngestAPI

/// Whose samples of one type a trend is made of. Every statement about one names its device.
struct TrendSubject: Hashable {
    var device: Int64
    /// 0 = all samples of the device, whoever wore it.
    var person: Int64
    var type: APISampleType
}

/// A civil day whose stored trend is older than its samples.
struct TouchedMark: Equatable {
    var day: CivilDate
    /// Another one means that the day was touched again.
    var stamp: Int64
}
