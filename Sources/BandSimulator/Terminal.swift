import Glibc

/// Whole lines for people and for whoever waits for one, at once, also through a pipe.
public enum Terminal {
    public static func say(_ line: String) { put(line, STDOUT_FILENO) }
    public static func complain(_ line: String) { put(line, STDERR_FILENO) }

    private static func put(_ line: String, _ descriptor: Int32) {
        var line = line + "\n"
        // Nobody to tell when even this fails.
        line.withUTF8 { _ = write(descriptor, $0.baseAddress, $0.count) }
    }
}
