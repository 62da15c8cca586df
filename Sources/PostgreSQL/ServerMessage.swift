import CPostgreSQL

/// What a server or libpq says of a failure, as an error that names no values.
enum ServerMessage {
    /// - Parameters:
    ///   - severity: not localised: ERROR, FATAL or PANIC; nil where libpq itself made the failure.
    ///   - sqlState: nil as well.
    static func error(severity: String?, sqlState: String?, primary: String) -> PostgreSQLError {
        guard severity == "ERROR", let sqlState else {
            // After FATAL and PANIC the server closes; without a severity libpq speaks of a connection that it lost.
            var error = PostgreSQLError(kind: .connection, message: oneLine(primary))
            error.closedWith = severity == "FATAL" ? sqlState : nil
            return error
        }
        // Class 22, data exceptions, quotes what could not be read.
        let isAboutData = sqlState.hasPrefix("22")
        return PostgreSQLError(
            kind: .server(sqlState: sqlState),
            message: isAboutData ? withoutQuotes(primary) : oneLine(primary))
    }

    static func error(of result: OpaquePointer?) -> PostgreSQLError {
        func field(_ code: UnicodeScalar) -> String? {
            PQresultErrorField(result, Int32(code.value)).map { String(cString: $0) }
        }
        // PG_DIAG_SEVERITY_NONLOCALIZED, PG_DIAG_SQLSTATE and PG_DIAG_MESSAGE_PRIMARY.
        let primary = field("M") ?? PQresultErrorMessage(result).map { String(cString: $0) } ?? ""
        return error(severity: field("V"), sqlState: field("C"), primary: primary)
    }

    /// Everything from the first quote to the last goes: a value may hold quotes itself.
    static func withoutQuotes(_ text: String) -> String {
        let text = oneLine(text)
        guard let first = text.firstIndex(of: "\""), let last = text.lastIndex(of: "\"") else { return text }
        return text[..<first] + "\"…\"" + text[text.index(after: last)...]
    }

    static func oneLine(_ text: String) -> String {
        let lines = text.split(whereSeparator: \.isNewline).map { line in
            line.drop(while: \.isWhitespace)
        }
        return lines.isEmpty ? "no reason was given" : lines.joined(separator: "; ")
    }
}
