import IngestAPI
import Locking
import Testing

@testable import IngestStore

/// What a device has by day, however much it is and however far the database is.
@Suite struct RangeTests {
    private struct Bed {
        let directory = TemporaryDirectory()
        let engine: RefusingEngine
        let storage: DatabaseStorage
        let key = DeviceKey(account: "a", name: "d")
        /// Transactions that read.
        let questions = Guarded(0)

        init(_ chunks: [(ring: Int64, samples: [APISample])]) async throws {
            engine = RefusingEngine(try TestEngine.make(directory))
            storage = try await DatabaseStorage(
                engine, now: WallClock.now, rests: .untilClosed, limits: .untilTheTestEnds)
            try Self.write(key.make + chunks.map { put($0.samples, ring: $0.ring) }, engine)
            engine.runs.withLock { $0 = [] }
            beforeEachQuestion { _ in }
        }

        func put(_ samples: [APISample], ring: Int64) -> SQLCall {
            ChunkRows.put(samples, ring: ring, key, now: APITime(milliseconds: 0))
        }

        func beforeEachQuestion(_ body: @escaping @Sendable (Int) -> Void) {
            engine.refuseReading { [questions] in
                let number = questions.withLock { questions in
                    questions += 1
                    return questions
                }
                body(number)
                return nil
            }
        }

        static func write(_ calls: [SQLCall], _ engine: any SQLEngine) throws {
            let session = try engine.connect(toWrite: true)
            _ = try session.beginWriting([])
            try session.commit(calls)
            session.close()
        }
    }

    /// One chunk of the ring for each run of seqs.
    private func chunks(_ ring: Int64, _ seqs: [ClosedRange<UInt32>]) -> [(ring: Int64, samples: [APISample])]
    {
        seqs.map { seqs in
            (ring, seqs.flatMap { [sample($0), sample($0, .steps, value: 3)] })
        }
    }

    /// A band that measures each second, and keeps it for 90 days.
    @Test func fifteenThousandChunksTakeFewRoundTrips() async throws {
        let bed = try await Bed((0..<15_000).map { (1, [sample(1 + $0 * 512)]) })
        let ranges = try await bed.storage.ranges(device: "d", account: "a")
        #expect(ranges?.map(\.count).reduce(0, +) == 15_000)
        #expect(ranges?.map(\.maxSeq).max() == 7_679_489)
        // Beside the begin and the end of each: with 60 ms a trip each question takes a quarter of a second, and all of them two.
        let (runs, questions) = (bed.engine.runs.withLock { $0.count }, bed.questions.withLock { $0 })
        #expect(questions == 8)
        #expect(runs == 2 * questions)
        await bed.storage.close()
    }

    @Test(arguments: [1, 2, 3, 7, 100])
    func allPartsTogetherAreTheWhole(most: Int) async throws {
        let bed = try await Bed(
            chunks(1, [1...9, 10...10, 500...520]) + chunks(2, [3...4]) + chunks(9, [7...7, 86_400...86_500]))
        let whole = try await bed.storage.ranges(device: "d", account: "a")
        #expect(whole?.count == 8)
        #expect(whole?.map(\.count).reduce(0, +) == 270)
        for bytes in [1, 200, 1 << 20] {
            bed.questions.withLock { $0 = 0 }
            let limits = RangeReads.Limits(chunks: most, bytes: bytes)
            let parts = try await bed.storage.ranges(device: "d", account: "a", limits: limits)
            #expect(parts == whole)
            // One by one where no two are within the bytes.
            if bytes == 1 { #expect(bed.questions.withLock { $0 } >= 6) }
        }
        #expect(try await bed.storage.ranges(device: "e", account: "a") == nil)
        await bed.storage.close()
    }

    /// Between two parts others may store and cut: a sample is neither lost nor counted twice.
    @Test(arguments: [1, 2])
    func chunksThatAreCutAnewMeanwhile(most: Int) async throws {
        let bed = try await Bed(chunks(1, [1...10, 11...20, 21...30, 31...40]))
        let whole = try await bed.storage.ranges(device: "d", account: "a")
        let joined = chunks(1, [1...25, 26...40])
        bed.questions.withLock { $0 = 0 }
        bed.beforeEachQuestion { [bed] number in
            guard number == 2 else { return }
            let drops = [1, 11, 21, 31].map { ChunkRows.drop($0, ring: 1, bed.key) }
            #expect(throws: Never.self) {
                try Bed.write(drops + joined.map { bed.put($0.samples, ring: $0.ring) }, bed.engine)
            }
        }
        let limits = RangeReads.Limits(chunks: most)
        #expect(try await bed.storage.ranges(device: "d", account: "a", limits: limits) == whole)
        #expect(bed.questions.withLock { $0 } > 2)
        bed.beforeEachQuestion { _ in }
        await bed.storage.close()
    }

    /// Times of a hostile gateway: each sample on a day of its own.
    @Test func moreThanAnAnswerHasRoomForIsNotCountedToItsEnd() async throws {
        let samples = (1...9).map { sample(UInt32($0), at: Int64($0) * 86_400) }
        let bed = try await Bed(samples.map { (1, [$0]) })
        let limits = RangeReads.Limits(chunks: 2)
        let fits = try await bed.storage.ranges(device: "d", account: "a", limits: limits, most: 9)
        #expect(fits?.count == 9)
        bed.questions.withLock { $0 = 0 }
        await #expect(throws: StorageFailure.longList) {
            try await bed.storage.ranges(device: "d", account: "a", limits: limits, most: 3)
        }
        #expect(bed.questions.withLock { $0 } == 2)
        // What fits into an answer at all is never refused.
        let least = DayRange(ring: "00000001", type: .spo2, day: "1970-01-01", count: 1, minSeq: 1, maxSeq: 1)
        let bytes = try APIJSON.encode(least).count
        #expect(bytes * DayCounts.most > IngestAPI.maxListBytes)
        await bed.storage.close()
    }
}
