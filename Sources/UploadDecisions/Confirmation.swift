import IngestAPI

/// When a sample is done. Ingest API 1: "A sample is confirmed when the answer is for its `sync_id`, the counts sum up,
/// it is not in `rejected`, and `ack_seq` of its type is at or above its seq."
enum Confirmation {
    /// Nil when the answer can't be about this batch: nothing of it is believed then.
    static func verdict(of answer: BatchAnswer, on batch: SentBatch) -> BatchVerdict? {
        guard answer.syncID == batch.syncID, answer.total == batch.samples.count else { return nil }
        var rejections: [Int: BatchAnswer.Rejected] = [:]
        for rejected in answer.rejected {
            guard batch.samples.indices.contains(rejected.index),
                rejections.updateValue(rejected, forKey: rejected.index) == nil
            else { return nil }
        }
        var verdict = BatchVerdict()
        verdict.accepted = answer.accepted
        verdict.duplicates = answer.duplicates
        verdict.corrected = answer.corrected
        verdict.conflicts = answer.conflicts.count
        for (index, sample) in batch.samples.enumerated() {
            if let rejected = rejections[index] {
                if rejected.code == RejectionCode.consentMissing.rawValue {
                    verdict.held.append(index)
                } else {
                    verdict.rejected.append(
                        .init(
                            index: index, code: ServerText.code(rejected.code),
                            message: ServerText.message(rejected.message)))
                }
            } else if let acked = answer.ackSeq[sample.type], acked >= sample.seq {
                verdict.confirmed.append(index)
            } else {
                verdict.unconfirmed.append(index)
            }
        }
        return verdict
    }
}
