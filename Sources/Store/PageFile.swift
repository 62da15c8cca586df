import SQLite

#if canImport(Glibc)
    import Glibc
#endif

/// The pages of a database file whose log is empty, as bytes.
final class PageFile {
    let pageSize: Int
    let pageCount: UInt32
    private let descriptor: Int32
    private let path: String
    /// A page that the medium does not give counts as damaged, instead of ending the salvage.
    private let skipsReadErrors: Bool

    init(path: String, skipsReadErrors: Bool) throws(StoreError) {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { throw Self.failure(path) }
        var facts = stat()
        var header = [UInt8](repeating: 0, count: 100)
        guard fstat(descriptor, &facts) == 0, pread(descriptor, &header, 100, 0) == 100 else {
            close(descriptor)
            throw Self.failure(path)
        }
        let size = Int(header[16]) << 8 | Int(header[17])
        // 1 stands for 65,536; what is no power of two is damaged, and ours are of 4 KiB.
        pageSize = size == 1 ? 65_536 : size >= 512 && size & (size - 1) == 0 ? size : 4_096
        pageCount = UInt32(clamping: Int(facts.st_size) / pageSize)
        self.descriptor = descriptor
        self.path = path
        self.skipsReadErrors = skipsReadErrors
    }

    deinit { close(descriptor) }

    /// Nil for a page that is not there or can't be read.
    func page(_ number: UInt32) throws(StoreError) -> [UInt8]? {
        guard number >= 1, number <= pageCount else { return nil }
        var bytes = [UInt8](repeating: 0, count: pageSize)
        let count = pread(descriptor, &bytes, pageSize, off_t(number - 1) * off_t(pageSize))
        if count == pageSize { return bytes }
        guard skipsReadErrors || count >= 0 else { throw Self.failure(path) }
        return nil
    }

    /// Pages that belong to no table, as far as the list of them can be read.
    func freePages() throws(StoreError) -> Set<UInt32> {
        var free: Set<UInt32> = []
        guard let header = try page(1) else { return free }
        func number(_ bytes: [UInt8], _ offset: Int) -> UInt32 {
            bytes[offset..<(offset + 4)].reduce(0) { $0 << 8 | UInt32($1) }
        }
        var trunk = number(header, 32)
        while trunk != 0, free.insert(trunk).inserted, let bytes = try page(trunk) {
            let leaves = Int(number(bytes, 4))
            guard leaves <= pageSize / 4 - 2 else { break }
            for index in 0..<leaves { free.insert(number(bytes, 8 + 4 * index)) }
            trunk = number(bytes, 0)
        }
        return free
    }

    private static func failure(_ path: String) -> StoreError {
        StoreError(
            kind: .io, operation: "read the damaged database", path: path,
            message: String(cString: strerror(errno)))
    }
}
