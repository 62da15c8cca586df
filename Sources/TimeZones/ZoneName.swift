/// Names of the IANA database.
enum ZoneName {
    /// `Asia/Kolkata`, `Etc/GMT+5`, `UTC`: never a path out of the directory, a rule, or an offset.
    ///
    /// `right/…` counts leap seconds, which no time here does; `posix/…`, `posixrules` and `localtime` are other names of
    /// what has one of its own.
    static func isValid(_ name: String) -> Bool {
        guard (1...64).contains(name.utf8.count), name != "posixrules", name != "localtime" else {
            return false
        }
        let parts = name.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.allSatisfy(isPart) else { return false }
        return parts.count == 1 || (parts[0] != "right" && parts[0] != "posix")
    }

    private static func isPart(_ part: Substring) -> Bool {
        guard let first = part.utf8.first, isLetter(first) else { return false }
        return part.utf8.allSatisfy { byte in
            switch byte {
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"),
                UInt8(ascii: "+"):
                true
            default: isLetter(byte)
            }
        }
    }

    private static func isLetter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        default: false
        }
    }
}
