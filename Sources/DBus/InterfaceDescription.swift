/// What an interface offers: the source of introspection and of the checks of incoming calls.
public struct InterfaceDescription: Sendable, Equatable {
    public struct Argument: Sendable, Equatable {
        public var name: String
        public var signature: String

        public init(_ name: String, _ signature: String) {
            self.name = name
            self.signature = signature
        }
    }

    public struct Method: Sendable, Equatable {
        public var name: String
        public var takes: [Argument]
        public var returns: [Argument]

        public init(_ name: String, takes: [Argument] = [], returns: [Argument] = []) {
            self.name = name
            self.takes = takes
            self.returns = returns
        }

        var signature: String { takes.map(\.signature).joined() }
    }

    public struct Signal: Sendable, Equatable {
        public var name: String
        public var arguments: [Argument]

        public init(_ name: String, _ arguments: [Argument] = []) {
            self.name = name
            self.arguments = arguments
        }
    }

    public struct Property: Sendable, Equatable {
        public var name: String
        public var signature: String
        public var writable: Bool

        public init(_ name: String, _ signature: String, writable: Bool = false) {
            self.name = name
            self.signature = signature
            self.writable = writable
        }
    }

    public var name: String
    public var methods: [Method]
    public var signals: [Signal]
    public var properties: [Property]

    public init(
        _ name: String, methods: [Method] = [], signals: [Signal] = [], properties: [Property] = []
    ) {
        self.name = name
        self.methods = methods
        self.signals = signals
        self.properties = properties
    }
}

// MARK: the standard interfaces, as BlueZ offers them

extension InterfaceDescription {
    static let introspectable = InterfaceDescription(
        "org.freedesktop.DBus.Introspectable",
        methods: [Method("Introspect", returns: [Argument("xml", "s")])])

    static let propertiesInterface = InterfaceDescription(
        "org.freedesktop.DBus.Properties",
        methods: [
            Method(
                "Get", takes: [Argument("interface", "s"), Argument("name", "s")],
                returns: [Argument("value", "v")]),
            Method(
                "Set", takes: [Argument("interface", "s"), Argument("name", "s"), Argument("value", "v")]),
            Method("GetAll", takes: [Argument("interface", "s")], returns: [Argument("properties", "a{sv}")]),
        ],
        signals: [
            Signal(
                "PropertiesChanged",
                [
                    Argument("interface", "s"), Argument("changed_properties", "a{sv}"),
                    Argument("invalidated_properties", "as"),
                ])
        ])

    static let objectManager = InterfaceDescription(
        "org.freedesktop.DBus.ObjectManager",
        methods: [Method("GetManagedObjects", returns: [Argument("objects", "a{oa{sa{sv}}}")])],
        signals: [
            Signal("InterfacesAdded", [Argument("object", "o"), Argument("interfaces", "a{sa{sv}}")]),
            Signal("InterfacesRemoved", [Argument("object", "o"), Argument("interfaces", "as")]),
        ])
}
