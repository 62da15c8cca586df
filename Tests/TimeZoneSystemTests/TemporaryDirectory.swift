import Glibc

/// A directory for one test; gone with the value.
final class TemporaryDirectory {
    struct Failure: Error {
        var step: String
    }

    let path: String
    private var names: Set<String> = ["localtime", "other"]

    init() throws {
        var template = Array("/tmp/bandferry-zones.XXXXXX".utf8CString)
        guard mkdtemp(&template) != nil else { throw Failure(step: "mkdtemp") }
        path = String(decoding: template.dropLast().map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        for name in names { remove(name) }
        rmdir(path)
    }

    func remove(_ name: String) { unlink("\(path)/\(name)") }

    func write(_ text: String, to name: String) throws { try write(Array(text.utf8), to: name) }

    func copy(_ file: String, to name: String) throws {
        let descriptor = open(file, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Failure(step: "open \(file)") }
        defer { close(descriptor) }
        var bytes = [UInt8](repeating: 0, count: 65_536)
        let count = read(descriptor, &bytes, bytes.count)
        try write(Array(bytes.prefix(max(count, 0))), to: name)
    }

    /// In place of an older file, as a package does it.
    private func write(_ bytes: [UInt8], to name: String) throws {
        names.insert(name)
        let new = "\(path)/new"
        let descriptor = open(new, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Failure(step: "open \(new)") }
        defer { close(descriptor) }
        guard Glibc.write(descriptor, bytes, bytes.count) == bytes.count, rename(new, "\(path)/\(name)") == 0
        else { throw Failure(step: "write \(name)") }
    }
}
