import FoundationEssentials
import Glibc
import ProcessTestSupport
import Testing

/// Runs `zones.py` beside this file and reads its lines.
enum Python {
    static let interpreter = "/usr/bin/python3"

    struct Failure: Error {
        var step: String
    }

    static func lines<Line: Decodable>(_: Line.Type, _ words: [String]) throws -> [Line] {
        let script =
            String(#filePath.prefix(through: #filePath.lastIndex(of: "/") ?? #filePath.startIndex))
            + "zones.py"
        let output = try run([interpreter, script] + words, seconds: 120)
        return try output.split(separator: UInt8(ascii: "\n")).map {
            try JSONDecoder().decode(Line.self, from: Data($0))
        }
    }

    /// What a program printed. Killed when it takes too long; Foundation's Process may wait for ever.
    private static func run(_ words: [String], seconds: Int) throws -> [UInt8] {
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else { throw Failure(step: "pipe") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        defer { close(ends[0]) }
        let process: pid_t
        do {
            defer { close(ends[1]) }
            process = try spawn(words, output: ends[1])
        }
        var output: [UInt8] = []
        let isWhole = read(ends[0], into: &output, seconds: seconds)
        if !isWhole { kill(process, SIGKILL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) < 0 && errno == EINTR {}
        guard isWhole else { throw Failure(step: "\(words[2]) took over \(seconds) s") }
        guard status == 0 else { throw Failure(step: "\(words[2]) ended with status \(status)") }
        return output
    }

    /// False when the end does not come in time.
    private static func read(_ descriptor: Int32, into output: inout [UInt8], seconds: Int) -> Bool {
        let deadline = ContinuousClock.now + .seconds(seconds)
        var buffer = [UInt8](repeating: 0, count: 65_536)
        while true {
            let left = (deadline - .now) / .milliseconds(1)
            guard left > 0 else { return false }
            var request = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            guard poll(&request, 1, Int32(left)) > 0 else { continue }
            let count = Glibc.read(descriptor, &buffer, buffer.count)
            if count == 0 { return true }
            if count > 0 { output += buffer[..<count] }
        }
    }

    private static func spawn(_ words: [String], output: Int32) throws -> pid_t {
        try ChildProcess.spawn(words, output: .descriptor(output))
    }
}
