import Foundation
import Testing

@testable import FileReading

@Suite struct ReadableFileTests {
    /// Of one test, with one file in it.
    private final class Place {
        let directory = NSTemporaryDirectory() + "bandferry-reading-" + UUID().uuidString
        var file: String { directory + "/file" }

        init(_ bytes: [UInt8] = [], mode: Int = 0o600) throws {
            try FileManager.default.createDirectory(atPath: directory, withIntermediateDirectories: true)
            _ = FileManager.default.createFile(
                atPath: file, contents: Data(bytes), attributes: [.posixPermissions: mode])
        }

        deinit { try? FileManager.default.removeItem(atPath: directory) }
    }

    private func failure(_ path: String, limit: Int = 100, secret: Bool = true) -> ReadFailure? {
        do throws(ReadFailure) {
            let file = try ReadableFile(path)
            try file.requireRegular(secret: secret)
            _ = try file.bytes(limit: limit)
            return nil
        } catch {
            return error
        }
    }

    @Test(arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func aFileIsReadToItsEndAndNotBeyondTheLimit(_ count: Int) throws {
        let bytes = (0..<count).map { UInt8(truncatingIfNeeded: $0 &* 31) }
        let place = try Place(bytes)
        let whole = try ReadableFile(place.file).bytes(limit: count)
        #expect(whole == bytes)
        if count > 0 { #expect(failure(place.file, limit: count - 1) == .tooLarge) }
    }

    @Test func aSecretThatOthersMayReadIsRefused() throws {
        for mode in [0o640, 0o604, 0o620, 0o601] {
            let place = try Place(mode: mode)
            #expect(failure(place.file) == .readableByOthers(mode: UInt32(mode)))
            #expect(failure(place.file, secret: false) == nil)
        }
        let place = try Place(mode: 0o400)
        #expect(failure(place.file) == nil)
    }

    @Test func whatIsNoFileIsRefusedInTheSystemsWords() throws {
        let place = try Place()
        #expect(failure("/dev/null") == .notAFile)
        #expect(failure(place.directory) == .notAFile)
        let missing = failure(place.directory + "/none")
        #expect(missing == .notOpened(ENOENT) && missing?.reason == "No such file or directory")
        do throws(ReadFailure) {
            _ = try ReadableFile(place.directory).bytes(limit: 10)
            Issue.record("a directory was read")
        } catch {
            #expect(error == .notRead(EISDIR))
        }
    }

    @Test func aPipeThatNobodyWritesToIsEmpty() throws {
        let place = try Place()
        let pipe = place.directory + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let bytes = try ReadableFile(pipe).bytes(limit: 10)
        #expect(bytes.isEmpty)
    }

    @Test func aPipeIsWaitedForWhereThatIsAskedFor() throws {
        let place = try Place()
        let pipe = place.directory + "/pipe"
        #expect(mkfifo(pipe, 0o600) == 0)
        let writer = Thread {
            let descriptor = open(pipe, O_WRONLY)
            write(descriptor, "late", 4)
            close(descriptor)
        }
        writer.start()
        let bytes = try ReadableFile(pipe, waits: true).bytes(limit: 10)
        #expect(bytes == Array("late".utf8))
    }
}
