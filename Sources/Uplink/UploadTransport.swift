import HTTPClient

/// Carries one request to the server and back, on the upload thread.
protocol UploadTransport {
    func perform(_ request: HTTPRequest) throws(HTTPFailure) -> HTTPResponse
}

extension HTTPClient: UploadTransport {}
