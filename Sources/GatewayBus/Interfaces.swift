import DBus

/// docs/dbus-api.md describes both to their users; a test holds the two together.
enum GatewayInterfaces {
    typealias Argument = InterfaceDescription.Argument
    typealias Method = InterfaceDescription.Method
    typealias Property = InterfaceDescription.Property

    static let gateway = InterfaceDescription(
        GatewayBusNames.gatewayInterface,
        methods: [
            Method("Scan", takes: [Argument("seconds", "u")], returns: [Argument("bands", "aa{sv}")]),
            Method(
                "Adopt", takes: [Argument("address", "s"), Argument("options", "a{sv}")],
                returns: [Argument("band", "o")]),
            Method("Forget", takes: [Argument("address", "s")]),
            Method(
                "Sync", takes: [Argument("address", "s"), Argument("options", "a{sv}")],
                returns: [Argument("reports", "aa{sv}")]),
        ] + pairing + people + upload,
        signals: [
            .init("PairingAsked", [Argument("address", "s"), Argument("question", "a{sv}")]),
            .init("PairingWithdrawn", [Argument("address", "s")]),
            .init("PairingProgress", [Argument("address", "s"), Argument("state", "s")]),
        ],
        properties: [
            Property("Version", "s"), Property("StateDirectory", "s"), Property("Running", "b"),
            Property("Scanning", "b"), Property("UploadURL", "s"), Property("LastUpload", "x"),
            Property("Problems", "aa{sv}"), Property("Reconciling", "a{sv}"),
        ])

    private static let pairing = [
        Method("Pair", takes: [Argument("address", "s"), Argument("options", "a{sv}")]),
        Method("AnswerPairing", takes: [Argument("address", "s"), Argument("answer", "a{sv}")]),
        Method("CancelPairing", takes: [Argument("address", "s")]),
    ]

    private static let people = [
        Method(
            "AddPerson", takes: [Argument("name", "s"), Argument("options", "a{sv}")],
            returns: [Argument("id", "s")]),
        Method("RemovePerson", takes: [Argument("person", "s")]),
        Method("SetZone", takes: [Argument("person", "s"), Argument("zone", "s"), Argument("from", "x")]),
        Method("RemoveZone", takes: [Argument("person", "s"), Argument("from", "x")]),
        Method(
            "Assign",
            takes: [
                Argument("band", "s"), Argument("person", "s"), Argument("from", "x"),
                Argument("options", "a{sv}"),
            ]),
        Method("Unassign", takes: [Argument("band", "s"), Argument("from", "x")]),
    ]

    private static let upload = [
        Method("UploadStatus", takes: [], returns: [Argument("status", "a{sv}")]),
        Method("UploadNow", takes: [Argument("options", "a{sv}")], returns: [Argument("report", "a{sv}")]),
        Method("PauseUpload", takes: [Argument("options", "a{sv}")], returns: [Argument("pause", "a{sv}")]),
        Method("ResumeUpload"),
        Method("RetryUpload", takes: [Argument("band", "s")], returns: [Argument("samples", "t")]),
        Method(
            "Replace", takes: [Argument("bands", "as"), Argument("options", "a{sv}")],
            returns: [Argument("reports", "aa{sv}")]),
        Method("ServerBands", returns: [Argument("bands", "aa{sv}")]),
        Method(
            "Reconcile", takes: [Argument("band", "s"), Argument("options", "a{sv}")],
            returns: [Argument("reports", "aa{sv}")]),
    ]

    static let band = InterfaceDescription(
        GatewayBusNames.bandInterface,
        methods: [
            Method("Sync", takes: [Argument("options", "a{sv}")], returns: [Argument("report", "a{sv}")])
        ],
        properties: [
            Property("Address", "s"), Property("DeviceID", "s"), Property("Name", "s"), Property("Mode", "s"),
            Property("Ack", "s"),
            Property("Configured", "b"), Property("Adopted", "b"), Property("Connected", "b"),
            Property("Syncing", "b"), Property("MTU", "q"), Property("LastContact", "x"),
            Property("Battery", "y"),
            Property("Firmware", "s"), Property("Ring", "s"), Property("OldestSeq", "u"),
            Property("NewestSeq", "u"), Property("Capacity", "u"),
            Property("NewestRecordedAt", "x"), Property("NextSeq", "u"), Property("Recording", "s"),
            Property("Stored", "t"),
            Property("Pending", "t"), Property("Quarantined", "t"), Property("Conflicts", "t"),
            Property("Undecodable", "t"), Property("Gaps", "t"), Property("Lease", "a{sv}"),
            Property("Problem", "a{sv}"),
        ])
}
