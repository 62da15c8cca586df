import GatewayModel
import Locking

/// What others want of the upload thread, which reads it between two requests.
final class Mailbox: Sendable {
    struct Question: Sendable {
        let device: DeviceID
        /// On the upload clock.
        let until: Duration
        let answer: OneShot<ServerAnswer>
    }

    /// Something that a person asked for: done by the upload thread between two requests. Nil = there is nobody to do
    /// it, as the thread stops or has no transport.
    typealias Order = @Sendable (UploadWorker?) -> Void

    struct News: Sendable {
        var wasWoken = false
        var isPrompted = false
        var isStopping = false
        var questions: [Question] = []
        var orders: [Order] = []
    }

    private struct Contents {
        var news = News()
        var hasNews = false
    }

    /// Questions are one a band and connection; more than this waiting means that nobody answers them.
    private static let questionLimit = 32

    private let contents = Guarded(Contents())
    private let signal = Wakeup()

    func wake() { post { $0.wasWoken = true } }

    /// Like `wake`, and waits that are the gateway's own end.
    func prompt() { post { $0.isPrompted = true } }

    func stop() { post { $0.isStopping = true } }

    /// False when the thread stops or too many wait: the question is answered as unreachable at once.
    func ask(_ question: Question) -> Bool {
        var isTaken = false
        post { news in
            guard !news.isStopping, news.questions.count < Self.questionLimit else { return }
            news.questions.append(question)
            isTaken = true
        }
        return isTaken
    }

    /// False as in `ask`: the order is dropped.
    func give(_ order: @escaping Order) -> Bool {
        var isTaken = false
        post { news in
            guard !news.isStopping, news.orders.count < Self.questionLimit else { return }
            news.orders.append(order)
            isTaken = true
        }
        return isTaken
    }

    /// Takes what has come; a stop stays.
    func take() -> News {
        contents.withLock { contents in
            let news = contents.news
            contents.news = News(isStopping: news.isStopping)
            contents.hasNews = false
            return news
        }
    }

    /// Blocks the caller's own thread until something comes or the time is over. May return early.
    func wait(atMost time: Duration) {
        signal.wait(atMost: min(time, .seconds(3600)))
    }

    private func post(_ change: (inout News) -> Void) {
        let isFirst = contents.withLock { contents in
            change(&contents.news)
            defer { contents.hasNews = true }
            return !contents.hasNews
        }
        // One signal for any number of posts.
        if isFirst { signal.signal() }
    }
}
