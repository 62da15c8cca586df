import CINI
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
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw failure(path, "can't be opened") }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        while true {
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count < 0 && errno == EINTR { continue }
            guard count >= 0 else { throw failure(path, "can't be read") }
            if count == 0 { return bytes }
            bytes += buffer[..<count]
            guard bytes.count <= sizeLimit else {
                throw INIError(file: path, message: "larger than 1 MiB; is it the right file?")
            }
        }
    }

    private static func failure(_ path: String, _ what: String) -> INIError {
        let code = errno
        let hint =
            switch code {
            case ENOENT: "; name an existing file with --config FILE"
            case EACCES: "; run the command as a user who may read it, or change the file's permissions"
            default: ""
            }
        return INIError(file: path, message: "\(what): \(String(cString: strerror(code)))\(hint)")
    }
}
