import HTTPClient

/// Carries one request to the server and back, on the upload thread.
protocol UploadTransport {
    func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse
    /// A file that it depends on is another than at the last request.
    func filesChanged() -> Bool
}

extension UploadTransport {
    func filesChanged() -> Bool { false }
}

extension HTTPClient: UploadTransport {}
