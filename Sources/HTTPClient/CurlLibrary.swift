import CCurl

/// libcurl's functions. See `shim.h` for why it is loaded and not linked.
///
/// `@unchecked Sendable`: addresses of functions, which never change once they are found.
struct CurlLibrary: @unchecked Sendable {
    let functions: curl_functions

    /// Debian's libcurl comes with either TLS library.
    static let names = ["libcurl.so.4", "libcurl-gnutls.so.4"]

    private static let shared = Result { () throws(HTTPFailure) in try CurlLibrary(names: names) }

    /// Once a process; a `static let` is initialised by one thread while others wait.
    static func loaded() throws(HTTPFailure) -> CurlLibrary { try shared.get() }

    /// The first of these that is installed, ready for use.
    init(names: [String]) throws(HTTPFailure) {
        var functions = curl_functions()
        guard names.contains(where: { bandferry_curl_load($0, &functions) }) else {
            throw HTTPFailure(.other, "libcurl is not installed: \(names.joined(separator: " or ")).")
        }
        guard functions.global_init(Int(CURL_GLOBAL_DEFAULT)) == CURLE_OK else {
            throw HTTPFailure(.outOfMemory, "libcurl could not be initialised.")
        }
        self.functions = functions
    }

    /// libcurl's words for its code.
    func text(_ code: CURLcode) -> String {
        functions.easy_strerror(code).map { String(cString: $0) } ?? "libcurl's error \(code.rawValue)"
    }
}
