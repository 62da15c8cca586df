import CINI
import FileReading
import Glibc

/// Reads INI files as inih does: `[section]`, `key = value`, comments by `#` or `;` at the start of a line and by
/// `;` after a blank. Leading blanks do not continue the line before.
public enum INIFile {
    /// Bytes of a line, its end included.
    public static let lineLimit = 4096
    public static let sizeLimit = 1 << 20

    public static func read(path: String) throws(INIError) -> [INIEntry] {
        try parse(try contents(of: path), file: path)
    }

    /// `file` is only for errors.
    public static func parse(_ bytes: [UInt8], file: String) throws(INIError) -> [INIEntry] {
        bandferry_ini_set_line_limit(Int32(lineLimit))
        let parser = LineParser(bytes)
        let context = Unmanaged.passUnretained(parser).toOpaque()
        let failedLine = withExtendedLifetime(parser) {
            ini_parse_stream(
                { buffer, size, context in
                    guard let buffer, let context, size > 0 else { return nil }
                    let parser = Unmanaged<LineParser>.fromOpaque(context).takeUnretainedValue()
                    return parser.nextLine(into: UnsafeMutableBufferPointer(start: buffer, count: Int(size)))
                        ? buffer : nil
                },
                context,
                { context, section, key, value in
                    guard let context, let section, let key, let value else { return 0 }
                    let parser = Unmanaged<LineParser>.fromOpaque(context).takeUnretainedValue()
                    parser.add(
                        section: String(cString: section), key: String(cString: key),
                        value: String(cString: value))
                    return 1
                }, context)
        }
        if let refused = parser.refused {
            throw INIError(file: file, line: refused.line, message: refused.message)
        }
        guard failedLine == 0 else {
            throw INIError(
                file: file, line: parser.line(ofCall: Int(failedLine)),
                message: "neither a [section], nor key = value, nor a comment; correct or remove the line")
        }
        return parser.entries
    }

    private static func contents(of path: String) throws(INIError) -> [UInt8] {
        do {
            return try ReadableFile(path, waits: true).bytes(limit: sizeLimit)
        } catch {
            throw failure(path, error)
        }
    }

    private static func failure(_ path: String, _ failure: ReadFailure) -> INIError {
        switch failure {
        case .notOpened(let code):
            let hint =
                switch code {
                case ENOENT: "; name an existing file with --config FILE"
                case EACCES:
                    "; run the command as a user who may read it, or change the file's permissions"
                default: ""
                }
            return INIError(file: path, message: "can't be opened: \(failure.reason)\(hint)")
        case .tooLarge: return INIError(file: path, message: "larger than 1 MiB; is it the right file?")
        case .notRead, .notAFile, .readableByOthers:
            return INIError(file: path, message: "can't be read: \(failure.reason)")
        }
    }
}
