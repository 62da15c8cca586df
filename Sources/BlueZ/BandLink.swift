import BandProfile
import BlueZModel
import CLinux
import DBus
import Glibc
import Locking

/// One live GATT link to a band. All of it is found anew for each connection and ends with it.
public final class BandLink: Sendable {
    public let address: BluetoothAddress
    /// The link existed before: a killed gateway left it, or another program made it. Its band may be streaming.
    public let wasAlreadyConnected: Bool
    let client: BlueZClient
    /// The device's object path, valid as long as the link.
    let path: String

    private struct State {
        var isAlive = true
        var characteristics: [String: BlueZObjects.Characteristic] = [:]
        var acks = AckWay.untried
    }

    private enum AckWay {
        case untried
        /// A socket of which each packet becomes one Write Command.
        case acquired(Int32)
        case called
    }

    private let state = Guarded(State())

    init(client: BlueZClient, path: String, address: BluetoothAddress, wasAlreadyConnected: Bool) {
        self.client = client
        self.path = path
        self.address = address
        self.wasAlreadyConnected = wasAlreadyConnected
    }

    deinit { end() }

    /// False once the link has dropped; calls then fail at once.
    public var isAlive: Bool { state.withLock(\.isAlive) }

    func set(_ characteristics: [String: BlueZObjects.Characteristic]) {
        state.withLock { $0.characteristics = characteristics }
    }

    func characteristic(_ uuid: String) -> BlueZObjects.Characteristic? {
        state.withLock { $0.characteristics[uuid] }
    }

    func end() {
        state.withLock { state in
            state.isAlive = false
            if case .acquired(let descriptor) = state.acks { close(descriptor) }
            state.acks = .called
        }
    }

    // MARK: reading

    /// `deadline`: for a band that a person has to be asked about first; nil = the usual one.
    public func readInfo(deadline: Duration? = nil) async throws(BlueZFailure) -> [UInt8] {
        try await client.read(BandHistory.info, of: self, deadline: deadline)
    }

    public func readClock() async throws(BlueZFailure) -> [UInt8] {
        try await client.read(BandHistory.clock, of: self)
    }

    /// ATT MTU as BlueZ reports it; nil when it does not: take 23 then.
    public func mtu() async -> Int? { await client.mtu(of: self) }

    /// Percent: from bluetoothd when it claims the service, else read from the band.
    public func battery() async -> Int? { await client.battery(of: self) }

    public func firmware() async -> String? { await client.text(StandardUUID.firmware, of: self) }

    // MARK: pairing

    /// Pairs if there is no bond yet. To be called when a read or a write says `.notPaired`.
    public func pairIfNeeded(deadline: Duration = .seconds(45)) async throws(BlueZFailure) {
        try await client.pair(self, deadline: deadline)
    }

    // MARK: the history

    /// Notifications of History Data go into the mailbox from now until the link drops.
    public func subscribe(into mailbox: NotificationMailbox) async throws(BlueZFailure) {
        try await client.subscribe(self, into: mailbox)
    }

    /// Writes with response. The band's own errors arrive as `.applicationError`.
    public func writeControlPoint(_ bytes: [UInt8]) async throws(BlueZFailure) {
        try await client.write(bytes, to: BandHistory.controlPoint, of: self, type: "request")
    }

    /// Tells the band that records up to `seq` may be freed. False when it could not be handed to BlueZ; nothing
    /// is lost then, since acks are cumulative and repeated.
    @discardableResult public func ack(_ seq: UInt32) async -> Bool {
        let packet = (0..<4).map { UInt8(truncatingIfNeeded: seq >> (8 * $0)) }
        if case .untried = state.withLock({ $0.acks }) { await acquireAcks() }
        switch state.withLock({ sendAcquired(packet, $0) }) {
        case .sent: return true
        case .full: return false
        case .notAcquired: break
        }
        guard isAlive else { return false }
        return await client.ack(packet, of: self)
    }

    /// Ends the link. BlueZ takes 2 s for it.
    public func disconnect() async { await client.disconnect(link: self) }

    // MARK: the ack socket

    private enum SendResult { case sent, full, notAcquired }

    private func sendAcquired(_ packet: [UInt8], _ state: State) -> SendResult {
        guard state.isAlive, case .acquired(let descriptor) = state.acks else { return .notAcquired }
        let sent = send(descriptor, packet, packet.count, Int32(MSG_DONTWAIT) | Int32(MSG_NOSIGNAL))
        return sent == packet.count ? .sent : .full
    }

    /// One small packet instead of a method call for each ack; where BlueZ does not offer it, calls do.
    private func acquireAcks() async {
        let descriptor = await client.acquireWrite(BandHistory.ack, of: self)
        let unused = state.withLock { state -> Int32? in
            guard state.isAlive, case .untried = state.acks else { return descriptor }
            state.acks = descriptor.map(AckWay.acquired) ?? .called
            return nil
        }
        if let unused { close(unused) }
    }
}
