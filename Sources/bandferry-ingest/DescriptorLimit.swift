import Glibc

/// How many files and connections this process may have open.
enum DescriptorLimit {
    /// What the store, the log and the libraries may need beside connections.
    private static let reserve = 64

    /// Raises the soft limit to the hard one, and says how many connections fit into it.
    static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else {
            return 1024 - reserve
        }
        limit.rlim_cur = limit.rlim_max
        // Nothing here uses select(2), for which a high number is too high.
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        return max(8, Int(clamping: limit.rlim_cur) - reserve)
    }
}
