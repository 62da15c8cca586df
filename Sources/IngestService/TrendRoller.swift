import CivilTime
import IngestAPI
import SQLite
import Trends

/// Computes touched days anew and stores them, a bounded number at a time, one device after the other.
actor TrendRoller {
    /// One burst ends after the first device past it.
    static let budget = Duration.milliseconds(250)
    /// Of one device at a time.
    private static let marksAtOnce = 32

    private let reader: ReadConnection
    private let writer: WriteConnection
    /// The device that was looked at last: every device gets its turn.
    private var last: Int64 = 0

    init(reader: ReadConnection, writer: WriteConnection) {
        self.reader = reader
        self.writer = writer
    }

    /// Goes on from where the last burst ended, round and round while there is something and time is left. False =
    /// nothing is touched, nothing can be stored now, or the task is cancelled.
    func burst() async -> Bool {
        let begin = ContinuousClock.now
        do {
            repeat {
                // What can be computed again must not take the room that samples need.
                guard !Task.isCancelled, await !writer.roomIsInDoubt else { return false }
                let isFromTheFirst = last == 0
                let turns = try await turns(until: begin + Self.budget)
                if !turns.isEmpty {
                    try await writer.perform { for turn in turns { try turn.store(in: $0) } }
                } else if isFromTheFirst && last == 0 {
                    return false
                }
            } while begin.duration(to: .now) < Self.budget
            return true
        } catch {
            // Nobody waits for it, and the next commit wakes it again.
            return false
        }
    }

    /// One turn of each device from the last on, to the end of the lap at most.
    private func turns(until deadline: ContinuousClock.Instant) async throws(StorageFailure) -> [TrendTurn] {
        var turns: [TrendTurn] = []
        repeat {
            guard let device = try await reader.perform({ [last] in try Self.device(after: last, in: $0) })
            else {
                last = 0
                break
            }
            last = device
            if let turn = try await turn(device) { turns.append(turn) }
        } while .now < deadline
        return turns
    }

    /// Nil when this device's days can't be computed: a defect, which must not keep the others waiting.
    private func turn(_ device: Int64) async throws(StorageFailure) -> TrendTurn? {
        do {
            return try await reader.perform {
                try TrendTurn(device: device, marks: Self.marksAtOnce, in: $0)
            }
        } catch {
            guard error.kind == .defect else { throw error }
            return nil
        }
    }

    /// The next device that has anything touched.
    private static func device(after device: Int64, in database: Database) throws -> Int64? {
        try database.first(
            "SELECT device_id FROM touched_days WHERE device_id > ? ORDER BY device_id LIMIT 1",
            .integer(device)
        ) { $0.int64(0) }
    }
}
