import Testing

@testable import HTTPClient

/// libcurl is loaded, not linked: what a missing one looks like is ours to say.
@Suite struct CurlLibraryTests {
    private func load(_ names: [String]) -> Result<CurlLibrary, HTTPFailure> {
        Result { () throws(HTTPFailure) in try CurlLibrary(names: names) }
    }

    @Test func aMissingLibraryIsNamed() {
        guard case .failure(let failure) = load(["libcurl.so.none", "libcurl-none.so.4"]) else {
            Issue.record("it was loaded")
            return
        }
        #expect(failure.code == .other)
        #expect(failure.text == "libcurl is not installed: libcurl.so.none or libcurl-none.so.4.")
    }

    @Test func theFirstThatIsThereIsTaken() throws {
        let library = try load(["libcurl.so.none"] + CurlLibrary.names).get()
        #expect(library.text(.init(rawValue: 28)).lowercased().contains("time"))
    }

    /// Debian's C library is there, and knows none of the functions.
    @Test func aLibraryThatLacksTheFunctionsIsNotTaken() {
        guard case .failure = load(["libc.so.6"]) else {
            Issue.record("it was taken for libcurl")
            return
        }
    }
}
