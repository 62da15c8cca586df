import UploadDecisions

/// Counts what the requests of the upload thread cost.
final class RequestMeter {
    private(set) var total = Traffic()

    func count(sent: Int, received: Int) {
        total += Traffic(requests: 1, bytesSent: sent, bytesReceived: received)
    }
}
