import DBus

/// BlueZ's interfaces as introspection describes them. A property without a value is absent.
enum BlueZInterfaces {
    typealias Interface = InterfaceDescription
    private typealias Argument = InterfaceDescription.Argument
    private typealias Method = InterfaceDescription.Method
    private typealias Property = InterfaceDescription.Property

    private static let options = Argument("options", "a{sv}")

    static let adapter = Interface(
        "org.bluez.Adapter1",
        methods: [
            Method("StartDiscovery"), Method("StopDiscovery"),
            Method("SetDiscoveryFilter", takes: [Argument("properties", "a{sv}")]),
            Method("GetDiscoveryFilters", returns: [Argument("filters", "as")]),
            Method("RemoveDevice", takes: [Argument("device", "o")]),
        ],
        properties: [
            Property("Address", "s"), Property("AddressType", "s"), Property("Name", "s"),
            Property("Alias", "s", writable: true), Property("Class", "u"),
            Property("Powered", "b", writable: true), Property("Discoverable", "b", writable: true),
            Property("DiscoverableTimeout", "u", writable: true), Property("Pairable", "b", writable: true),
            Property("PairableTimeout", "u", writable: true), Property("Discovering", "b"),
            Property("UUIDs", "as"), Property("Modalias", "s"), Property("Roles", "as"),
        ])

    static let gattManager = Interface(
        "org.bluez.GattManager1",
        methods: [
            Method("RegisterApplication", takes: [Argument("application", "o"), options]),
            Method("UnregisterApplication", takes: [Argument("application", "o")]),
        ])

    static let agentManager = Interface(
        "org.bluez.AgentManager1",
        methods: [
            Method("RegisterAgent", takes: [Argument("agent", "o"), Argument("capability", "s")]),
            Method("UnregisterAgent", takes: [Argument("agent", "o")]),
            Method("RequestDefaultAgent", takes: [Argument("agent", "o")]),
        ])

    static func device(_ version: BlueZVersion) -> Interface {
        Interface(
            "org.bluez.Device1",
            methods: [
                Method("Connect"), Method("Disconnect"), Method("Pair"), Method("CancelPairing"),
                Method("ConnectProfile", takes: [Argument("UUID", "s")]),
                Method("DisconnectProfile", takes: [Argument("UUID", "s")]),
            ],
            signals: version.signalsDisconnectReason
                ? [.init("Disconnected", [Argument("name", "s"), Argument("message", "s")])] : [],
            properties: [
                Property("Address", "s"), Property("AddressType", "s"), Property("Name", "s"),
                Property("Alias", "s", writable: true), Property("Class", "u"), Property("Appearance", "q"),
                Property("Icon", "s"), Property("Paired", "b"), Property("Bonded", "b"),
                Property("Trusted", "b", writable: true), Property("Blocked", "b", writable: true),
                Property("LegacyPairing", "b"), Property("RSSI", "n"), Property("Connected", "b"),
                Property("UUIDs", "as"), Property("Modalias", "s"), Property("Adapter", "o"),
                Property("ManufacturerData", "a{qv}"), Property("ServiceData", "a{sv}"),
                Property("TxPower", "n"), Property("ServicesResolved", "b"),
                Property("WakeAllowed", "b", writable: true),
            ])
    }

    static let battery = Interface("org.bluez.Battery1", properties: [Property("Percentage", "y")])

    static let service = Interface(
        "org.bluez.GattService1",
        properties: [
            Property("Handle", "q"), Property("UUID", "s"), Property("Device", "o"), Property("Primary", "b"),
            Property("Includes", "ao"),
        ])

    static let characteristic = Interface(
        "org.bluez.GattCharacteristic1",
        methods: [
            Method("ReadValue", takes: [options], returns: [Argument("value", "ay")]),
            Method("WriteValue", takes: [Argument("value", "ay"), options]),
            Method("AcquireWrite", takes: [options], returns: [Argument("fd", "h"), Argument("mtu", "q")]),
            Method("AcquireNotify", takes: [options], returns: [Argument("fd", "h"), Argument("mtu", "q")]),
            Method("StartNotify"), Method("StopNotify"),
        ],
        properties: [
            Property("Handle", "q"), Property("UUID", "s"), Property("Service", "o"), Property("Value", "ay"),
            Property("Notifying", "b"), Property("Flags", "as"), Property("WriteAcquired", "b"),
            Property("NotifyAcquired", "b"), Property("MTU", "q"),
        ])

    static let descriptor = Interface(
        "org.bluez.GattDescriptor1",
        methods: [
            Method("ReadValue", takes: [options], returns: [Argument("value", "ay")]),
            Method("WriteValue", takes: [Argument("value", "ay"), options]),
        ],
        properties: [
            Property("Handle", "q"), Property("UUID", "s"), Property("Characteristic", "o"),
            Property("Value", "ay"),
        ])
}
