import BandProfile
import GatewayModel
import Locking
import Testing

@testable import GatewayBus

/// Notes what was asked and answers as it is told.
final class FakeGateway: GatewayCommands {
    static let address = BluetoothAddress(bits: 0xf0f1_f2f3_f4f5)
    static let other = BluetoothAddress(bits: 0xf0f1_f2f3_f4f6)

    private let notes = Guarded<[String]>([])
    private let failure: CommandFailure?
    let held = AsyncStream.makeStream(of: Void.self)

    init(failure: CommandFailure? = nil) { self.failure = failure }

    var asked: [String] { notes.withLock { $0 } }

    private func note(_ text: String) throws {
        notes.withLock { $0.append(text) }
        if let failure { throw failure }
    }

    func scan(seconds: Int) async throws -> [SeenBand] {
        try note("scan \(seconds)")
        return [
            SeenBand(address: Self.address, name: "Anna", rssi: -60, mode: .own),
            SeenBand(address: Self.other),
        ]
    }

    func adopt(_ request: AdoptRequest, asking person: (any PairingPerson)?) async throws {
        try note("adopt \(request)")
        if let person { try await pair(request.address, asking: person) }
    }

    /// Asks all that can be asked, and notes the answers.
    func pair(_ address: BluetoothAddress, asking person: any PairingPerson) async throws {
        try note("pair \(address)")
        person.told(.searching)
        for question in [PairingQuestion.showPasskey(42, entered: 3), .enterPasskey, .comparePasskey(7)] {
            let reply = await person.ask(question)
            try note("answer \(reply.map { "\($0)" } ?? "none")")
        }
        person.told(.paired)
        if person.isGone { throw CommandFailure(.failed, "given up") }
    }

    func forget(_ address: BluetoothAddress) async throws { try note("forget \(address)") }

    func sync(_ address: BluetoothAddress?, noAck: Bool) async throws -> [SyncReport] {
        try note("sync \(address?.description ?? "all") \(noAck)")
        if noAck { for await _ in held.stream { break } }
        return [SyncReport(address: address ?? Self.other, stored: 42)]
    }

    func addPerson(_ request: AddPersonRequest) async throws -> PersonID {
        try note("add \(request.name) \(request.id?.text ?? "any") \(request.sharesName)")
        return try #require(PersonID("p_00000000000000a1"))
    }

    func removePerson(_ person: String) async throws { try note("no person \(person)") }

    func setZone(_ zone: String, from: Timestamp, of person: String) async throws {
        try note("zone \(person) \(zone) \(from.milliseconds)")
    }

    func removeZone(from: Timestamp, of person: String) async throws {
        try note("no zone \(person) \(from.milliseconds)")
    }

    func assign(_ request: AssignRequest) async throws {
        let to = request.to.map { "\($0.milliseconds)" } ?? "-"
        try note("assign \(request.band) \(request.person) \(request.from.milliseconds) \(to)")
    }

    func unassign(_ band: String, from: Timestamp) async throws {
        try note("unassign \(band) \(from.milliseconds)")
    }

    func reconcile(_ band: String?, days: Int?, isDryRun: Bool) async throws -> [ReconcileReport] {
        try note("reconcile \(band ?? "all") \(days ?? 0) \(isDryRun)")
        return [ReconcileReport(device: DeviceID(Self.address), isMarked: !isDryRun)]
    }

    func serverBands() async throws -> [ServerBand] {
        try note("server bands")
        return [ServerBand(device: DeviceID(Self.address), address: Self.address, samples: 7)]
    }

    func replace(_ request: ReplaceRequest) async throws -> [ReplaceReport] {
        try note("replace \(request)")
        return [ReplaceReport(device: DeviceID(Self.address), address: Self.address, outcome: .takenOver)]
    }

    func uploadStatus() async throws -> UploadStatus {
        try note("upload status")
        return UploadStatus(state: .paused, url: "https://ingest.example.org")
    }

    func uploadNow(wait: Duration) async throws -> UploadReport {
        try note("upload now \(wait)")
        return UploadReport(sent: 7, left: 2, isCut: true)
    }

    func pauseUpload(for time: Duration?) async throws -> UploadPause {
        try note("pause \(time.map { "\($0)" } ?? "-")")
        return UploadPause(
            since: Timestamp(milliseconds: 5), until: time.map { _ in Timestamp(milliseconds: 9) })
    }

    func resumeUpload() async throws { try note("resume") }

    func retryUpload(_ band: String?) async throws -> Int {
        try note("retry \(band ?? "all")")
        return 3
    }
}
