import BandProfile
import BlueZModel
import DBus
import Testing

@testable import BlueZ

private let hci0 = "/org/bluez/hci0"
private let hci1 = "/org/bluez/hci1"
private func path(_ adapter: String) -> String { adapter + "/dev_F0_F1_F2_F3_F4_F0" }

private func interfaces(_ interface: String, _ properties: BusProperties) -> BusValue {
    .dictionary(
        key: "s", value: "a{sv}",
        [
            BusEntry(.string("org.freedesktop.DBus.Introspectable"), .properties([:])),
            BusEntry(.string(interface), .properties(properties)),
        ])
}

private func adapter(_ address: String, _ powered: Bool) -> BusValue {
    interfaces(BlueZName.adapter, ["Address": .string(address), "Powered": .bool(powered)])
}

@Suite struct ObjectViewTests {
    private var view = BlueZObjects()

    init() {
        _ = view.added(hci0, adapter("00:AA:01:00:00:00", true))
        _ = view.added(hci1, adapter("00:AA:01:00:00:01", true))
    }

    @Test func anAdapterIsFoundByItsAddressWhateverItsNumber() {
        var view = view
        #expect(view.adapterIndex(of: BluetoothAddress(bits: 0x00AA_0100_0001)) == 1)
        #expect(view.removed(hci1, [BlueZName.adapter]) == [.adapter])
        #expect(view.adapterIndex(of: BluetoothAddress(bits: 0x00AA_0100_0001)) == nil)
        _ = view.added("/org/bluez/hci2", adapter("00:AA:01:00:00:01", false))
        #expect(view.adapterIndex(of: BluetoothAddress(bits: 0x00AA_0100_0001)) == 2)
    }

    @Test func aBandOnTwoAdaptersIsTakenWhereItIsConnectedElseWhereItIsHeardBest() {
        var view = view
        for (adapter, rssi) in [(hci0, -80), (hci1, -50)] {
            _ = view.added(
                path(adapter),
                interfaces(BlueZName.device, ["RSSI": .int16(Int16(rssi)), "Connected": .bool(false)]))
        }
        #expect(view.device(band, on: [0, 1, 2])?.path == path(hci1))
        #expect(view.device(band, on: [0])?.path == path(hci0))
        _ = view.changed(path(hci0), BlueZName.device, ["Connected": .bool(true)], invalidated: [])
        #expect(view.device(band, on: [0, 1, 2])?.path == path(hci0))
        #expect(view.device(band, on: [2]) == nil)
    }

    @Test func anAdapterThatIsOffAndHasTheOnlyKeysIsNamed() {
        var view = view
        let first = BluetoothAddress(bits: 0x00AA_0100_0000)
        _ = view.added(path(hci0), interfaces(BlueZName.device, ["Paired": .bool(true)]))
        _ = view.added(path(hci1), interfaces(BlueZName.device, ["Paired": .bool(false)]))
        #expect(view.switchedOffAdapter(withKeysOf: band, among: [0, 1]) == nil)
        _ = view.changed(hci0, BlueZName.adapter, ["Powered": .bool(false)], invalidated: [])
        #expect(view.switchedOffAdapter(withKeysOf: band, among: [0, 1]) == first)
        // One that this gateway may not use is no matter.
        #expect(view.switchedOffAdapter(withKeysOf: band, among: [1]) == nil)
        _ = view.changed(path(hci1), BlueZName.device, ["Paired": .bool(true)], invalidated: [])
        #expect(view.switchedOffAdapter(withKeysOf: band, among: [0, 1]) == nil)
        #expect(view.switchedOffAdapter(withKeysOf: first, among: [0, 1]) == nil)
    }

    @Test func anInvalidatedRSSIIsGone() {
        var view = view
        _ = view.added(path(hci0), interfaces(BlueZName.device, ["RSSI": .int16(-60)]))
        #expect(view.snapshot(of: path(hci0))?.rssi == -60)
        _ = view.changed(path(hci0), BlueZName.device, [:], invalidated: ["RSSI"])
        #expect(view.snapshot(of: path(hci0))?.rssi == nil)
    }

    @Test func aPairedDeviceCountsAsBondedWhereBlueZDoesNotSay() {
        var view = view
        _ = view.added(path(hci0), interfaces(BlueZName.device, ["Paired": .bool(true)]))
        #expect(view.snapshot(of: path(hci0))?.bonded == true)
        _ = view.changed(path(hci0), BlueZName.device, ["Bonded": .bool(false)], invalidated: [])
        #expect(view.snapshot(of: path(hci0))?.bonded == false)
    }

    @Test func valuesOfTheWrongTypeArePassedOver() {
        var view = view
        let odd: BusProperties = [
            "Connected": .string("yes"), "RSSI": .string("loud"), "UUIDs": .byte(1), "Name": .bytes([1]),
            "AddressType": .structure([.byte(1)]), "Paired": .variant(.variant(.bool(true))),
        ]
        _ = view.added(path(hci0), interfaces(BlueZName.device, odd))
        let device = view.snapshot(of: path(hci0))
        #expect(device?.connected == false && device?.rssi == nil && device?.paired == true)
        _ = view.changed(hci0, BlueZName.adapter, ["Powered": .byte(0)], invalidated: [])
        #expect(view.adapters[0]?.powered == true)
        #expect(view.added(hci0, .string("x")).isEmpty)
        #expect(view.changed("nonsense", BlueZName.device, odd, invalidated: []).isEmpty)
        #expect(view.removed("/org/bluez/hci0/dev_00_00_00_00_00_00", [BlueZName.device]).isEmpty)
    }

    @Test func aCharacteristicIsOnlyThatOfItsDevice() {
        var view = view
        let info = path(hci0) + "/service000e/char000f"
        for adapter in [hci0, hci1] { _ = view.added(path(adapter), interfaces(BlueZName.device, [:])) }
        _ = view.added(info, interfaces(BlueZName.characteristic, ["UUID": .string(BandHistory.info)]))
        #expect(view.characteristics(of: path(hci0)).keys.sorted() == [BandHistory.info])
        #expect(view.characteristics(of: path(hci1)).isEmpty)
        #expect(view.removed(info, [BlueZName.characteristic]) == [.gatt(device: path(hci0))])
        #expect(view.characteristics(of: path(hci0)).isEmpty)
    }

    /// Signals one by one lead to the same view as reading all objects at the end.
    @Test(arguments: [UInt64(1), 2, 3, 4, 5, 6, 7, 8]) func signalsAndReadingAgree(_ seed: UInt64) {
        var state = seed
        func random(_ bound: Int) -> Int {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            return Int(state >> 33) % bound
        }
        var view = BlueZObjects()
        var truth: [String: BusProperties] = [:]
        let paths = (0..<4).map { "/org/bluez/hci0/dev_F0_F1_F2_F3_F4_F\($0)" }
        for _ in 0..<500 {
            let path = paths[random(4)]
            let change: BusProperties = [
                ["Connected": .bool(random(2) == 0)], ["RSSI": .int16(Int16(random(90) - 95))],
                ["UUIDs": .strings(random(2) == 0 ? [] : [BandHistory.service])], ["Trusted": .bool(true)],
            ][random(4)]
            if truth[path] == nil {
                truth[path] = change
                _ = view.added(path, interfaces(BlueZName.device, change))
            } else if random(10) == 0 {
                truth[path] = nil
                _ = view.removed(path, [BlueZName.device])
            } else if random(5) == 0 {
                truth[path]?["RSSI"] = nil
                _ = view.changed(path, BlueZName.device, [:], invalidated: ["RSSI"])
            } else {
                truth[path]?.merge(change) { $1 }
                _ = view.changed(path, BlueZName.device, change, invalidated: [])
            }
        }
        let reply = BusValue.dictionary(
            key: "o", value: "a{sa{sv}}",
            truth.map { BusEntry(.objectPath($0.key), interfaces(BlueZName.device, $0.value)) })
        #expect(BlueZObjects.reading([reply]) == view, "seed \(seed)")
    }
}
