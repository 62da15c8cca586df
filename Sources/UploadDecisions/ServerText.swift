/// What a server says, made fit to be stored, logged and counted by.
enum ServerText {
    static let unknownCode = "unknown"
    private static let codeLimit = 64
    private static let messageLimit = 200

    /// A code is a short word; whatever is none has one name, so that a server can't make any number of them.
    static func code(_ text: String) -> String {
        guard (1...codeLimit).contains(text.utf8.count), text.utf8.allSatisfy(isCodeByte) else {
            return unknownCode
        }
        return text
    }

    /// Cut by scalars, of which a character may have any number; what is no text is a blank.
    static func message(_ text: String) -> String {
        var message = String.UnicodeScalarView()
        for scalar in text.unicodeScalars.prefix(messageLimit) {
            switch scalar.properties.generalCategory {
            case .control, .format, .lineSeparator, .paragraphSeparator: message.append(" ")
            default: message.append(scalar)
            }
        }
        return String(message)
    }

    private static func isCodeByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"):
            true
        default: false
        }
    }
}
