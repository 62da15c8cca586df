import IngestAPI
import Testing
import UploadDecisions

@Suite struct HTTPDateTests {
    static let dates: [(String, String)] = [
        ("Sun, 06 Nov 1994 08:49:37 GMT", "1994-11-06T08:49:37Z"),
        (" Tue, 27 Oct 2026 05:31:00 GMT\t", "2026-10-27T05:31:00Z"),
        ("Thu, 01 Jan 1970 00:00:00 GMT", "1970-01-01T00:00:00Z"),
        ("Wed, 31 Dec 1969 23:59:59 GMT", "1969-12-31T23:59:59Z"),
        ("Tue, 29 Feb 2000 12:00:00 GMT", "2000-02-29T12:00:00Z"),
        ("Sat, 31 Dec 2016 23:59:60 GMT", "2017-01-01T00:00:00Z"),
    ]

    @Test(arguments: dates) func theFormOfSendersIsRead(_ text: String, _ expected: String) throws {
        #expect(HTTPDate.time(text) == APITime(expected))
    }

    static let others = [
        "", "Sun", "1994-11-06T08:49:37Z", "784111777",
        // The two obsolete forms.
        "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994",
        "Sun, 06 Nov 1994 08:49:37 CET", "Sun, 06 Nov 1994 08:49:37 +0000", "Sun, 06 Nov 1994 08:49:37",
        "Mon, 06 Nov 1994 08:49:37 GMT", "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
        "Sun, 6 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 94 08:49:37 GMT", "Sun, 06 Nov 1994 8:49:37 GMT",
        "Thu, 31 Feb 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
        "Sun, 06 Nov 1994 08:49:37.5 GMT", "Sun,  06 Nov 1994 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
        "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:60 GMT",
    ]

    @Test(arguments: others) func anythingElseIsNone(_ text: String) { #expect(HTTPDate.time(text) == nil) }
}
