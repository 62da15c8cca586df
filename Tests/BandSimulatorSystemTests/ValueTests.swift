import BandProfile
import DBus
import Glibc
import Testing

@testable import BandSimulator

/// Reads, writes and notifications.
@Suite(.timeLimit(.minutes(2))) struct ValueTests {
    @Test func infoAndClockAreTheBands() async throws {
        let bed = try await SimulatorBed.start(records: 42, window: 9)
        try await bed.connect()
        let info = try RingInfo(decoding: try await bed.read(infoPath))
        #expect(info.newestSeq == 42 && info.window == 9)
        #expect(try BandClock(decoding: try await bed.read(clockPath)).clockID == info.clockID)
    }

    @Test(arguments: [false, true]) func aHistoryIsStreamedAndFreedByAcks(overSignals: Bool) async throws {
        let bed = try await SimulatorBed.start(records: 100)
        try await bed.connect()
        var records: [HistoryRecord] = []
        if overSignals {
            _ = try await bed.call(historyPath, characteristicName, "StartNotify")
            try await bed.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
            try await bed.wait { _ in bed.notifications.count == 8 }
            for bytes in bed.notifications {
                if case .samples(_, let some) = try HistoryNotification(decoding: bytes) { records += some }
            }
        } else {
            let (socket, _) = try await bed.acquire(historyPath)
            defer { close(socket) }
            try await bed.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
            let stream = try drainToEnd(socket)
            records = stream.records
            #expect(stream.end?.lastSeq == 100)
        }
        let truth = await bed.simulator.band(address)?.everRecorded.map(\.record)
        #expect(records == truth)
        try await bed.write(ackPath, Ack.encode(60))
        #expect(try RingInfo(decoding: try await bed.read(infoPath)).oldestSeq == 61)
    }

    @Test func acksMayComeThroughAnAcquiredSocket() async throws {
        let bed = try await SimulatorBed.start(records: 100)
        try await bed.connect()
        let (socket, _) = try await bed.acquire(historyPath)
        defer { close(socket) }
        try await bed.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
        _ = try drainToEnd(socket)
        let (acks, _) = try await bed.acquire(ackPath, "AcquireWrite")
        #expect(
            await bed.failure(ackPath, characteristicName, "WriteValue", [.bytes([1]), .properties([:])])
                == "NotPermitted: Write acquired")
        let bytes = Ack.encode(70)
        #expect(send(acks, bytes, bytes.count, 0) == 4)
        for _ in 0..<2_000 {
            if try RingInfo(decoding: try await bed.read(infoPath)).oldestSeq == 71 { break }
        }
        #expect(try RingInfo(decoding: try await bed.read(infoPath)).oldestSeq == 71)
        close(acks)
        try await bed.wait { $0.contains("char0018: WriteAcquired=false") }
    }

    /// As measured on a real bluetoothd: with the default buffer 167 packets of 244 bytes fit on current kernels.
    @Test func aFullSocketDropsWithoutAWordAndGoesOnWithAHole() async throws {
        let bed = try await SimulatorBed.start(records: 15_000)
        try await bed.connect()
        let (socket, _) = try await bed.acquire(historyPath)
        defer { close(socket) }
        try await bed.write(controlPointPath, ControlPointCommand.sendFrom(1).encoded)
        // All was sent when the newest was: nobody read a byte meanwhile.
        for _ in 0..<2_000 {
            if (await bed.simulator.band(address))?.everSent == 15_000 { break }
            try await Task.sleep(for: .milliseconds(5))
        }
        var seqs: [UInt32] = []
        var poll = pollfd(fd: socket, events: Int16(POLLIN), revents: 0)
        while Glibc.poll(&poll, 1, 0) == 1, let packet = nextPacket(socket) {
            if case .samples(_, let records) = try HistoryNotification(decoding: packet) {
                seqs += records.map(\.seq)
            }
        }
        #expect((100...300).contains(seqs.count / 15))
        #expect(seqs == Array(1...UInt32(seqs.count)))
        await bed.simulator.record(address, 1)
        try await bed.write(controlPointPath, ControlPointCommand.sendFrom(15_001).encoded)
        #expect(try drainToEnd(socket).records.map(\.seq) == [15_001])
    }

    @Test func closingTheSocketReleasesTheCharacteristic() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        let (socket, _) = try await bed.acquire(historyPath)
        #expect(
            await bed.failure(historyPath, characteristicName, "AcquireNotify", [.properties([:])])
                == "NotPermitted: Notify acquired")
        #expect(
            await bed.failure(historyPath, characteristicName, "StartNotify")
                == "NotPermitted: Notify acquired")
        close(socket)
        try await bed.wait { $0.contains("char0015: NotifyAcquired=false") }
        #expect(
            await bed.failure(
                controlPointPath, characteristicName, "WriteValue",
                [.bytes([1, 1, 0, 0, 0]), .properties([:])])
                == "Failed: Operation failed with ATT error: 0x83")
        let again = try await bed.acquire(historyPath)
        close(again.socket)
    }

    @Test func aSessionSurvivesALostLinkAndBlocksTheSocket() async throws {
        let bed = try await SimulatorBed.start(records: 15)
        try await bed.connect()
        _ = try await bed.call(historyPath, characteristicName, "StartNotify")
        #expect(
            await bed.failure(historyPath, characteristicName, "AcquireNotify", [.properties([:])])
                == "InProgress: In Progress")
        await bed.simulator.cutLink(address)
        #expect(try await bed.property(historyPath, characteristicName, "Notifying") == .bool(true))
        try await bed.connect()
        // The configuration is written again a moment after the services are resolved.
        var failure: String? = ""
        for _ in 0..<200 where failure != nil {
            failure = await bed.failure(
                controlPointPath, characteristicName, "WriteValue",
                [.bytes([1, 1, 0, 0, 0]), .properties([:])])
        }
        try await bed.wait { _ in bed.notifications.count >= 2 }
        _ = try await bed.call(historyPath, characteristicName, "StopNotify")
        #expect(
            await bed.failure(historyPath, characteristicName, "StopNotify")
                == "Failed: No notify session started")
    }

    @Test func aSessionEndsWithItsClient() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        let other = try await BusConnection.open(.address(bed.bus.address))
        _ = try await bed.call(historyPath, characteristicName, "StartNotify", from: other)
        try await bed.wait { $0.contains("char0015: Notifying=true") }
        await other.close()
        try await bed.wait { $0.contains("char0015: Notifying=false") }
    }

    @Test(
        arguments: [
            (infoPath, [UInt8]([1]), "NotPermitted: Write not permitted", "request"),
            (controlPointPath, [7], "Failed: Operation failed with ATT error: 0x81", "request"),
            (controlPointPath, [1, 0], "Failed: Operation failed with ATT error: 0x82", "request"),
            (controlPointPath, [1, 1, 0, 0, 0], "Failed: Operation failed with ATT error: 0x83", "request"),
            (controlPointPath, [2], nil, "request"),
            (
                controlPointPath, [UInt8](repeating: 1, count: 300),
                "NotSupported: Operation is not supported", "request"
            ),
            (ackPath, [1, 0, 0, 0], "NotPermitted: Write not permitted", "request"),
            (ackPath, [UInt8](repeating: 0, count: 245), "Failed: Failed to initiate write", "command"),
            (ackPath, [9], nil, "command"),
            (ackPath, [9], "NotSupported: Operation is not supported", "telegram"),
        ] as [(String, [UInt8], String?, String)])
    func aWriteIsAnsweredAsBlueZWould(path: String, bytes: [UInt8], error: String?, type: String) async throws
    {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        #expect(
            await bed.failure(
                path, characteristicName, "WriteValue", [.bytes(bytes), .properties(["type": .string(type)])])
                == error)
    }

    @Test(
        arguments: [
            (controlPointPath, BusProperties(), "NotPermitted: Read not permitted"),
            (infoPath, ["offset": .uint16(25)], "InvalidArguments: Invalid offset"),
            (infoPath, ["offset": .string("x")], "InvalidArguments: Invalid arguments in method call"),
            (infoPath, ["offset": .uint16(24)], nil),
        ] as [(String, BusProperties, String?)])
    func aReadIsAnsweredAsBlueZWould(path: String, options: BusProperties, error: String?) async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        #expect(await bed.failure(path, characteristicName, "ReadValue", [.properties(options)]) == error)
    }

    @Test func withoutALinkNothingIsReadWrittenOrAcquired() async throws {
        let bed = try await SimulatorBed.start()
        try await bed.connect()
        await bed.simulator.cutLink(address)
        for (path, method, arguments) in [
            (infoPath, "ReadValue", [.properties([:])]), (historyPath, "AcquireNotify", [.properties([:])]),
            (controlPointPath, "WriteValue", [.bytes([2]), .properties([:])]),
            (ackPath, "AcquireWrite", [.properties([:])]),
        ] as [(String, String, [BusValue])] {
            #expect(await bed.failure(path, characteristicName, method, arguments) == "Failed: Not connected")
        }
        #expect(await bed.failure(historyPath, characteristicName, "StartNotify") == nil)
    }

    @Test func equalReadsShareOneRequestAndASecondWriteWaitsForNobody() async throws {
        let bed = try await SimulatorBed.start {
            $0.timeScale = 1
            $0.attLatency = .milliseconds(300)
            $0.discoveryDelay = .milliseconds(1)
        }
        try await bed.connect()
        let start = bed.trace.count
        async let one = bed.read(infoPath)
        async let two = bed.read(infoPath)
        async let other = bed.failure(
            infoPath, characteristicName, "ReadValue", [.properties(["offset": .uint16(1)])])
        let results = try await (one, two, other)
        #expect(results.0 == results.1)
        // Whichever of them came first, the one with another offset was refused or refused nobody's.
        #expect(results.2 == nil || results.2 == "InProgress: In Progress")
        try await bed.wait(from: start) { $0.contains("char000f: Value=bytes") }
        async let first = bed.failure(
            controlPointPath, characteristicName, "WriteValue", [.bytes([2]), .properties([:])])
        async let second = bed.failure(
            controlPointPath, characteristicName, "WriteValue", [.bytes([2]), .properties([:])])
        #expect(await [first, second].compactMap { $0 } == ["InProgress: In Progress"])
    }

    @Test func aRequestThatWaitsFailsWithItsLink() async throws {
        let bed = try await SimulatorBed.start {
            $0.timeScale = 1
            $0.attLatency = .seconds(20)
            $0.discoveryDelay = .milliseconds(1)
        }
        try await bed.connect()
        async let read = bed.failure(infoPath, characteristicName, "ReadValue", [.properties([:])])
        try await Task.sleep(for: .milliseconds(200))
        await bed.simulator.cutLink(address)
        #expect(await read == "Failed: Operation failed with ATT error: 0x0e")
    }
}
