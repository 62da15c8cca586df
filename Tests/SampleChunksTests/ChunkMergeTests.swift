import IngestAPI
import SampleChunks
import Testing

struct ChunkMergeTests {
    private func sample(
        _ seq: UInt32 = 1, value: Int = 70, version: Int = 1, bound: Int? = nil,
        person: PersonField = .unchanged,
        at time: Int64 = 1000
    ) -> APISample {
        APISample(
            type: .heartRate, seq: seq, value: value, recordedAt: APITime(milliseconds: time),
            tzOffsetMinutes: 0,
            version: version, provenance: .device, bandTimeMilliseconds: 5, clockID: 1, flags: 1,
            timeBoundMilliseconds: bound, person: person)
    }

    @Test func aNewKeyIsTakenAndThenKnown() {
        var merge = ChunkMerge(stored: [])
        #expect(merge.take(sample()) == .accepted)
        #expect(merge.take(sample()) == .duplicate)
        #expect(merge.samples == [sample(person: .cleared)])
        #expect(merge.isChanged)
    }

    @Test func whatTheBandGaveNeverChanges() {
        let stored = sample(person: .cleared)
        var merge = ChunkMerge(stored: [stored])
        #expect(merge.take(sample(value: 71, version: 9)) == .conflict)
        #expect(merge.samples == [stored])
        #expect(!merge.isChanged)
    }

    @Test func aHigherVersionIsCurrentAndKeepsThePersonThatItDoesNotName() {
        let stored = sample(person: .assigned("anna"))
        var merge = ChunkMerge(stored: [stored])
        let better = sample(version: 2, at: 2000)
        #expect(merge.take(better) == .replaced(old: stored, counts: .asCorrected))
        #expect(merge.samples.first?.person == .assigned("anna"))
        #expect(merge.samples.first?.recordedAt == APITime(milliseconds: 2000))
        #expect(merge.take(sample(version: 3, person: .cleared)) != .duplicate)
        #expect(merge.samples.first?.person == .cleared)
        #expect(merge.take(sample(version: 2)) == .duplicate)
    }

    @Test func atEqualVersionsTheSmallerBoundThenTheFirst() {
        let stored = sample(bound: 100, person: .cleared)
        var merge = ChunkMerge(stored: [stored])
        #expect(merge.take(sample(bound: 100, at: 3000)) == .duplicate)
        #expect(merge.take(sample(bound: 99, at: 4000)) == .replaced(old: stored, counts: .asDuplicate))
        #expect(merge.take(sample(bound: nil)) == .duplicate)
    }

    @Test func anExpiredKeyIsNotNew() {
        var merge = ChunkMerge(stored: [], expired: ExpiredKeys(of: [sample(4)]))
        #expect(merge.take(sample(4, version: 5)) == .duplicate)
        #expect(merge.take(sample(5)) == .accepted)
        #expect(merge.samples.map(\.seq) == [5])
    }
}
