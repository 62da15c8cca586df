import Foundation
import GatewayModel
import Locking
import Uplink

/// SplitMix64: a seed that a failure prints gives the same run again.
struct SeededRandom: RandomNumberGenerator, Sendable {
    private var state: UInt64

    init(seed: UInt64) { state = seed &* 0x2545_f491_4f6c_dd1d }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ mixed >> 30) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ mixed >> 27) &* 0x94d0_49bb_1331_11eb
        return mixed ^ mixed >> 31
    }

    mutating func chance(_ percent: Int) -> Bool { Int.random(in: 0..<100, using: &self) < percent }
    mutating func pick<Value>(_ values: [Value]) -> Value {
        values[Int.random(in: values.indices, using: &self)]
    }
}

/// A value behind a lock, in a reference.
final class Locked<Value: Sendable>: Sendable {
    private let storage: Guarded<Value>

    init(_ value: Value) { storage = Guarded(value) }

    var value: Value { storage.withLock { $0 } }

    @discardableResult
    func change<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        storage.withLock { body(&$0) }
    }
}

/// True time, ms since 1970. It moves when told to.
final class TrueTime: UploadClock {
    private let milliseconds: Locked<Int64>

    init(_ milliseconds: Int64) { self.milliseconds = Locked(milliseconds) }

    var now: Int64 { milliseconds.value }
    var monotonic: Duration { .milliseconds(now) }
    var wall: Timestamp { Timestamp(milliseconds: now) }

    func advance(_ time: Int64) { milliseconds.change { $0 += time } }
}

/// Removed with everything in it when nobody holds it any more. In memory where there is room: what is lost by a power
/// cut is up to the VFS, not to the medium.
final class Directory: Sendable {
    let path: String

    init() throws {
        let base =
            FileManager.default.isWritableFile(atPath: "/dev/shm") ? "/dev/shm" : NSTemporaryDirectory()
        path = base + "/convergence-" + UUID().uuidString
        try FileManager.default.createDirectory(
            atPath: path, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    /// As the files are now.
    func copy(_ names: [String]) throws -> Directory {
        let copy = try Directory()
        for name in names where FileManager.default.fileExists(atPath: path + "/" + name) {
            try FileManager.default.copyItem(atPath: path + "/" + name, toPath: copy.path + "/" + name)
        }
        return copy
    }
}

/// What two sides have to agree on of one sample.
struct Row: Equatable, CustomStringConvertible {
    var value: Int
    var bandTime: Int64
    var clockID: UInt16
    var flags: UInt8
    var recordedAt: Int64
    var bound: Int?
    var isUncertain: Bool
    var offset: Int?
    /// Nobody and "never said" are one for who reads.
    var person: String?
    var version: Int

    var description: String {
        "v\(version) at \(recordedAt) +- \(bound.map(String.init) ?? "?")\(isUncertain ? " uncertain" : "") "
            + "offset \(offset.map(String.init) ?? "-") person \(person ?? "-") (value \(value))"
    }
}

struct RowKey: Hashable, Comparable, CustomStringConvertible {
    var ring: String
    var type: String
    var seq: UInt32

    var description: String { "\(ring)/\(type)/\(seq)" }
    static func < (left: Self, right: Self) -> Bool {
        (left.ring, left.seq, left.type) < (right.ring, right.seq, right.type)
    }
}
