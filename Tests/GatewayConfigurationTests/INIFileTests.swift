import Foundation
import INIFile
import Testing

@Suite struct INIFileTests {
    private func parse(_ text: String) throws -> [INIEntry] {
        try INIFile.parse(Array(text.utf8), file: "test.conf")
    }

    @Test func everyEntryKnowsItsSectionAndLine() throws {
        let entries = try parse(
            "# comment\n[gateway]\n\nlog_level = info\n[band F0:F1:F2:F3:F4:F5]\nmode=own\n")
        #expect(
            entries == [
                INIEntry(section: "gateway", key: "", value: "", line: 2),
                INIEntry(section: "gateway", key: "log_level", value: "info", line: 4),
                INIEntry(section: "band F0:F1:F2:F3:F4:F5", key: "", value: "", line: 5),
                INIEntry(section: "band F0:F1:F2:F3:F4:F5", key: "mode", value: "own", line: 6),
            ])
    }

    @Test(arguments: [
        ("a byte order mark", "\u{feff}[a]\nk = v\n"),
        ("carriage returns", "[a]\r\nk = v\r\n"),
        ("no newline at the end", "[a]\nk = v"),
        ("blanks before the key", "[a]\n  k   =   v  \n"),
        ("a comment behind the value", "[a]\nk = v ; why\n"),
        ("blanks in the section's brackets", "[ a ]\nk = v\n"),
    ])
    func theUsualLooksOfAFileAreUnderstood(_ name: String, _ text: String) throws {
        let entry = try #require(try parse(text).last)
        #expect([entry.section, entry.key, entry.value] == ["a", "k", "v"], "\(name)")
    }

    @Test func anIndentedLineIsAKeyOfItsOwn() throws {
        #expect(try parse("[a]\n  k = v\n  l = w\n").map(\.key) == ["", "k", "l"])
    }

    @Test func aValueMayHoldSeveralAddresses() throws {
        let entries = try parse("[bands]\nadopt = F0:F1:F2:F3:F4:F5, F0:F1:F2:F3:F4:F6\n")
        #expect(entries.last?.value == "F0:F1:F2:F3:F4:F5, F0:F1:F2:F3:F4:F6")
    }

    @Test(arguments: [
        ("[a\n", 1, "neither a [section]"),
        ("[a]\nno value\n", 2, "neither a [section]"),
        ("[a]\n= v\n", 2, "without a key"),
        ("[a]\nk = \u{1}\n", 2, "control character"),
        ("[a]\n[b]\nk = v\0w\n", 3, "control character"),
        ("[" + String(repeating: "a", count: 60) + "]\n", 1, "too long"),
        ("[a]\n\nk = " + String(repeating: "v", count: 5000) + "\n", 3, "longer than"),
    ])
    func aBadLineIsNamed(_ text: String, _ line: Int, _ words: String) {
        let error = failure { try parse(text) }
        #expect(error?.line == line)
        #expect(error?.description.hasPrefix("test.conf:\(line): ") == true)
        #expect(error?.message.contains(words) == true, "\(error?.message ?? "no error")")
    }

    @Test func bytesThatAreNoTextAreRefused() {
        let error = failure {
            try INIFile.parse(Array("[a]\nk = ".utf8) + [0xff, 0xfe, 0x0a], file: "test.conf")
        }
        #expect(error?.line == 2)
    }

    @Test func aLongCommentIsNoError() throws {
        #expect(try parse("# " + String(repeating: "x", count: 10_000) + "\n[a]\nk = v\n").count == 2)
    }

    @Test func aMissingFileSaysWhatToDo() {
        let error = failure { try INIFile.read(path: "/nonexistent/bandferry.conf") }
        #expect(error?.file == "/nonexistent/bandferry.conf")
        #expect(error?.message.contains("--config") == true)
    }

    @Test func aFileOnDiskReadsLikeItsBytes() throws {
        let path = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString).path
        defer { try? FileManager.default.removeItem(atPath: path) }
        // Longer than one read.
        let text = (0..<2000).map { "[band \($0)]\nname = number \($0)\n" }.joined()
        try text.write(toFile: path, atomically: true, encoding: .utf8)
        #expect(try INIFile.read(path: path) == parse(text))
    }

    @Test(arguments: 0..<40) func noBytesCrashTheParser(_ round: Int) {
        var generator = Seeded(seed: UInt64(round) &* 7919 &+ 1)
        let alphabet = Array("[]=:;#\n\r\t \"ab\u{1}\u{0}".utf8) + [0xff, 0xc3, 0xef, 0xbb, 0xbf]
        for _ in 0..<50 {
            let count = Int.random(in: 0...400, using: &generator)
            let bytes = (0..<count).map { _ in alphabet.randomElement(using: &generator) ?? 0 }
            let lines = bytes.split(separator: 0x0a, omittingEmptySubsequences: false).count
            // Entries of lines that exist, or an error that names one: seed \(round).
            if let entries = try? INIFile.parse(bytes, file: "f") {
                #expect(entries.allSatisfy { (1...lines).contains($0.line) }, "seed \(round)")
            } else {
                let line = failure { try INIFile.parse(bytes, file: "f") }?.line
                #expect(line.map { (1...lines).contains($0) } == true, "seed \(round)")
            }
        }
    }

    private func failure<Result>(_ body: () throws -> Result) -> INIError? {
        do {
            _ = try body()
            return nil
        } catch {
            return error as? INIError
        }
    }
}

/// A generator whose every run a failure's seed repeats. SplitMix64.
struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9e37_79b9_7f4a_7c15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
        return mixed ^ (mixed >> 31)
    }
}
