import Foundation
import Testing

@testable import IngestAPI

private let deepest = String(repeating: "[", count: 64) + String(repeating: "]", count: 64)

private let documents: [String] = [
    "0", "-0", "1", "-1.5", "1e5", "1E+5", "1.0e-5", "10", "true", "false", "null", "\"\"", "[]", "{}",
    " [ ] ",
    "\t\r\n{}\n", "[1]", "[1,2]", "[[],[]]", "[{},{}]", #"{"a":1}"#,
    #"{ "a" : [ 1 , { "b" : null } ] , "a" : 2 }"#,
    #""\"\\\/\b\f\n\r\t\u0000\u00e9\uD83D\ude00""#, "\"é😀\"", #"{"":{"":[]}}"#, "[[1],2,[3,[4]]]", deepest,
]

private let others: [String] = [
    "", " ", "[", "]", "{", "}", "[1", "[1,", "[,1]", "[1,]", "[1 2]", "{\"a\"}", "{\"a\":}", "{\"a\":1,}",
    "{a:1}", "{1:1}",
    "{\"a\" 1}", "{,}", "[1}", "{\"a\":1]", "1 2", "[] []", "01", "+1", "-", "1.", ".5", "1e", "1e+", "0x1",
    "NaN",
    "Infinity", "-Infinity", "tru", "True", "nul", "truefalse", "\"", "\"a", "\"\\\"", "\"\\x\"", "\"\\u12\"",
    "\"\\u12g4\"",
    #""\ud800""#, #""\udc00""#, #""\ud800\u0041""#, #""\ud800x""#, "\"\n\"", "\"\u{0}\"", "'a'", "[1]x",
    "\u{feff}[]",
    "// c\n1", "[" + deepest + "]", #"{"\ud800":1}"#, #"{"\q":1}"#, #"{"a":{"\ud800":1}}"#,
]

@Suite struct JSONSyntaxTests {
    @Test func whatIsJSONIsTaken() {
        for text in documents { #expect(JSONSyntax.isJSON(Array(text.utf8)), "\(text)") }
    }

    @Test func whatIsNotIsRefused() {
        for text in others { #expect(!JSONSyntax.isJSON(Array(text.utf8)), "\(text)") }
        for bytes in [[0x22, 0xff, 0x22], [0x22, 0xed, 0xa0, 0x80, 0x22], [0x22, 0xc0, 0x80, 0x22]]
            as [[UInt8]]
        {
            #expect(!JSONSyntax.isJSON(bytes))
        }
    }

    @Test func everyStrictPrefixOfAContainerIsRefused() {
        let text = Array(#"{"a":[1,"\u00e9",{"b":null}],"c":-1.5e3}"#.utf8)
        #expect(JSONSyntax.isJSON(text))
        for length in 0..<text.count { #expect(!JSONSyntax.isJSON(Array(text[..<length]))) }
    }

    /// What passes here is JSON to an independent parser too.
    @Test func itAgreesWithFoundationOnMutations() throws {
        let whole = Array(#"{"a":[1,"\u00e9\ud83d\ude00",{"b\n":null,"é":true}],"c":-1.5e3,"d":{}}"#.utf8)
        let alphabet = Array(#"{}[]",:\ud8e0 -+.1"#.utf8) + [0xc3, 0xff, 0x00]
        for seed in 0..<20_000 {
            var random = SeededRandom(seed: UInt64(seed))
            var bytes = whole
            for _ in 0..<Int.random(in: 1...3, using: &random) {
                let at = Int.random(in: 0..<bytes.count, using: &random)
                let byte = alphabet[Int.random(in: 0..<alphabet.count, using: &random)]
                switch Int.random(in: 0..<3, using: &random) {
                case 0: bytes[at] = byte
                case 1: bytes.remove(at: at)
                default: bytes.insert(byte, at: at)
                }
            }
            if JSONSyntax.isJSON(bytes) {
                #expect(throws: Never.self, "seed \(seed): \(String(decoding: bytes, as: UTF8.self))") {
                    try JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
                }
            }
        }
    }
}
