import GatewayModel
import Store

/// Turns an open question and what the server knows into answers. Pure.
enum QuestionJudge {
    /// - Parameter completeThrough: every record of the ring up to here is on the server or in a gap there; nil = it
    ///   has not been told so.
    static func judge(_ suspect: SuspectedGap, completeThrough: UInt32?) -> [QuestionAnswer] {
        var answers: [QuestionAnswer] = []
        var first = suspect.firstSeq
        if let completeThrough, completeThrough >= first {
            let held = min(completeThrough, suspect.lastSeq ?? completeThrough)
            answers.append(.heldByServer(first...held))
            guard held < suspect.lastSeq ?? .max, held < .max else { return answers }
            first = held + 1
        }
        answers.append(
            .gap(Gap(ring: suspect.ring, firstSeq: first, lastSeq: suspect.lastSeq, cause: suspect.cause)))
        return answers
    }
}
