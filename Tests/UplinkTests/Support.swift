import BandProfile
import Foundation
import GatewayModel
import HTTPClient
import IngestAPI
import Locking
import UploadDecisions

@testable import Uplink

/// SplitMix64: small, seeded, good enough for tests.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }
}

/// The injected source of one run.
func injectedRandom(seed: UInt64) -> InjectedRandom {
    let generator = Locked(SeededRandom(seed: seed))
    return InjectedRandom { generator.change { $0.next() } }
}

/// A value behind a lock, in a reference.
final class Locked<Value: Sendable>: Sendable {
    private let storage: Guarded<Value>

    init(_ value: Value) { storage = Guarded(value) }

    var value: Value { storage.withLock { $0 } }

    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        storage.withLock { body(&$0) }
    }
}

/// Time that moves when told to.
final class FakeClock: UploadClock {
    private let time = Locked(Duration.seconds(1000))

    var monotonic: Duration { time.value }
    private let base = Locked<Int64>(1_793_079_060_000)
    var wall: Timestamp { Timestamp(milliseconds: base.value + Int64(time.value / .milliseconds(1))) }

    func advance(by duration: Duration) { time.change { $0 += duration } }

    /// Sets the wall clock, ms.
    func step(by milliseconds: Int64) { base.change { $0 += milliseconds } }
}

final class TemporaryDirectory: Sendable {
    let path: String

    init() {
        path = FileManager.default.temporaryDirectory.appending(path: "uplink-\(UUID().uuidString)").path
        try? FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// Replaces the file as a whole, as an editor does.
    @discardableResult
    func write(_ text: String, to name: String, mode: Int = 0o600) -> String {
        let target = "\(path)/\(name)"
        let fresh = "\(target).new"
        _ = FileManager.default.createFile(
            atPath: fresh, contents: Data(text.utf8), attributes: [.posixPermissions: mode])
        rename(fresh, target)
        return target
    }
}

let deviceA = DeviceID("band_F0F1F2F3F4F5")!
let deviceB = DeviceID("band_000000000002")!
let ring = RingID(rawValue: 0xb5e5_d00d)

func sample(_ seq: UInt32, device: DeviceID = deviceA, version: Int = 1, value: Int = 72) -> Sample {
    Sample(
        device: device, ring: ring, type: seq % 3 == 0 ? .steps : .heartRate, seq: seq, value: value,
        recordedAt: Timestamp(milliseconds: 1_793_079_060_000 + Int64(seq) * 60_000), offsetMinutes: 330,
        version: version, bandTimeMilliseconds: 1_793_079_060_000 + Int64(seq) * 60_000, clockID: 3, flags: 1)
}

/// Waits for something that another thread does; the limit only ends a test that would hang.
func eventually(_ condition: () -> Bool) async -> Bool {
    let limit = ContinuousClock.now + .seconds(60)
    while ContinuousClock.now < limit {
        if condition() { return true }
        try? await Task.sleep(for: .milliseconds(5))
    }
    return condition()
}

extension BatchAnswer {
    static func decoded(_ response: HTTPResponse) throws -> BatchAnswer {
        try APIJSON.decode(from: response.body)
    }
}
