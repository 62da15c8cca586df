import IngestAPI
import Testing

@Suite struct OpaqueIDTests {
    /// "é" as one scalar and as two; the Ångström sign and the letter. The second pair has as many bytes.
    @Test(arguments: [
        ("\u{e9}", "e\u{301}"), ("\u{212b}", "A\u{30a}"), ("a\u{323}\u{307}", "a\u{307}\u{323}"),
    ])
    func whatReadsTheSameIsNotTheSame(one: String, other: String) {
        #expect(one == other)
        #expect(OpaqueID(one) != OpaqueID(other))
        #expect(Set([OpaqueID(one), OpaqueID(other), OpaqueID(one)]).count == 2)
        #expect((OpaqueID(one) < OpaqueID(other)) != (OpaqueID(other) < OpaqueID(one)))
        #expect(PersonField.assigned(OpaqueID(one)) != .assigned(OpaqueID(other)))
    }

    @Test func idsAreInTheOrderOfTheirBytes() {
        let ids: [OpaqueID] = ["", "a", "a\u{0301}", "b", "\u{e9}", "\u{ff5e}", "\u{1f600}"]
        #expect(ids.reversed().sorted() == ids)
    }
}
