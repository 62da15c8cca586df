import BlueZModel
import Glibc
import RadioSchedule
import Testing

@testable import Gateway

struct RadioTests {
    @Test(arguments: [
        (BlueZFailureKind.transient, SyncOutcome.failed(moved: false)), (.tooManyLinks, .noSlot),
        (.notReady, .radioFault), (.blocked, .radioFault), (.serviceGone, .radioFault),
        (.busGone, .radioFault), (.authentication, .needsHelp), (.keyMissing, .needsHelp),
        (.gone, .failed(moved: false)), (.deadline, .failed(moved: false)), (.cancelled, .again),
    ])
    func whoseFaultAFailureIs(_ kind: BlueZFailureKind, _ outcome: SyncOutcome) {
        #expect(SyncOutcome(BlueZFailure(kind: kind, during: .connect), moved: false) == outcome)
    }

    @Test func aBandThatEndsEachSessionForANewConnectionIsTriedLessOften() {
        #expect((0..<2).map { SyncOutcome.goingOn(fruitless: $0) } == [.again, .again])
        #expect((2..<5).allSatisfy { SyncOutcome.goingOn(fruitless: $0) == .failed(moved: false) })
    }

    @Test func rfkillIsReadFromTheKernel() throws {
        let directory = "/tmp/bandferry-rfkill.\(getpid())"
        func write(_ number: Int, _ name: String, _ text: String) throws {
            mkdir(directory, 0o700)
            mkdir("\(directory)/rfkill\(number)", 0o700)
            let file = try #require(fopen("\(directory)/rfkill\(number)/\(name)", "w"))
            fputs(text, file)
            fclose(file)
        }
        defer {
            for number in 0..<2 {
                for name in ["type", "soft", "hard"] { unlink("\(directory)/rfkill\(number)/\(name)") }
                rmdir("\(directory)/rfkill\(number)")
            }
            rmdir(directory)
        }
        #expect(!Rfkill.blocksBluetooth(in: directory))
        for (number, type) in ["wlan", "bluetooth"].enumerated() {
            try write(number, "type", type + "\n")
            try write(number, "soft", type == "wlan" ? "1\n" : "0\n")
            try write(number, "hard", "0\n")
        }
        #expect(!Rfkill.blocksBluetooth(in: directory))
        try write(1, "soft", "1\n")
        #expect(Rfkill.blocksBluetooth(in: directory))
        try write(1, "soft", "0\n")
        try write(1, "hard", "1\n")
        #expect(Rfkill.blocksBluetooth(in: directory))
    }
}
