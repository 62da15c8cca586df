// swift-tools-version: 6.0
import PackageDescription

// The layers, strictly downward: programs, adapters, pure decisions and parsers, C wrappers.
// scripts/check-imports.py fails the check when an import breaks them. docs/ARCHITECTURE.md has the picture.

// MARK: C libraries from Debian, each imported by exactly one wrapper

func system(_ name: String, pkgConfig: String? = nil, package: String) -> Target {
    .systemLibrary(name: name, path: "Sources/\(name)", pkgConfig: pkgConfig, providers: [.apt([package])])
}

let systemLibraries: [Target] = [
    system("CDBus", pkgConfig: "dbus-1", package: "libdbus-1-dev"),
    system("CSQLite", pkgConfig: "sqlite3", package: "libsqlite3-dev"),
    system("CPostgreSQL", pkgConfig: "libpq", package: "libpq-dev"),
    system("CSystemd", pkgConfig: "libsystemd", package: "libsystemd-dev"),
    system("CZlib", pkgConfig: "zlib", package: "zlib1g-dev"),
    system("CINI", pkgConfig: "inih", package: "libinih-dev"),
    // Headers only.
    system("CBluetooth", package: "libbluetooth-dev"),
    // Loaded on demand, not linked.
    .target(name: "CMicrohttpd"),
    system("CCurl", package: "libcurl4-openssl-dev"),
    system("CGLib", package: "libglib2.0-0"),
]

// MARK: helpers: every target of a kind gets the same settings

let settings: [SwiftSetting] = [.enableUpcomingFeature("ExistentialAny")]

func library(_ name: String, _ dependencies: [Target.Dependency] = []) -> Target {
    .target(name: name, dependencies: dependencies, swiftSettings: settings)
}
func program(
    _ name: String, _ dependencies: [Target.Dependency], linkerSettings: [LinkerSetting] = []
) -> Target {
    .executableTarget(
        name: name, dependencies: dependencies, swiftSettings: settings, linkerSettings: linkerSettings)
}
func tests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, swiftSettings: settings)
}

// MARK: the layers

let wrappers: [Target] = [
    .target(name: "CLinux"),
    library("Locking"),
    library("Threading"),
    library("ProcessSignals", ["CLinux"]),
    library("FileReading"),
    library("DBus", ["Locking", "Threading", "CDBus", "CLinux"]),
    library("BluetoothManagement", ["CBluetooth", "CLinux"]),
    library("SQLite", ["CSQLite"]),
    library("PostgreSQL", ["Locking", "Threading", "CPostgreSQL"]),
    library("Systemd", ["Locking", "CSystemd"]),
    library("HTTPClient", ["CCurl"]),
    library("HTTPServer", ["Locking", "CMicrohttpd"]),
    library("Compression", ["CZlib"]),
    library("INIFile", ["FileReading", "CINI"]),
    library("TimeZones", ["CGLib"]),
]

let decisions: [Target] = [
    library("BandProfile"),
    library("Conditions"),
    library("GatewayModel", ["BandProfile", "Conditions"]),
    library("HistorySync", ["BandProfile", "GatewayModel"]),
    library("RadioSchedule", ["BandProfile", "HistorySync"]),
    library("Timekeeping", ["GatewayModel"]),
    library("BandModel", ["BandProfile"]),
    library("BlueZModel", ["BandProfile", "Conditions"]),
    library("CivilTime"),
    library("IngestAPI", ["CivilTime"]),
    library("Trends", ["CivilTime", "IngestAPI"]),
    library("SampleChunks", ["IngestAPI"]),
    library("UploadDecisions", ["Conditions", "IngestAPI", "GatewayModel"]),
    library("GatewayConfiguration", ["BandProfile", "GatewayModel", "UploadDecisions"]),
    library("Metrics", ["Conditions", "GatewayModel", "RadioSchedule"]),
    library("Doctor", ["BandProfile", "Conditions", "GatewayModel", "UploadDecisions"]),
    library(
        "CommandLineText",
        ["BandProfile", "Conditions", "Doctor", "GatewayModel", "IngestAPI", "CivilTime"]),
]

let adapters: [Target] = [
    library(
        "BlueZ",
        [
            "Locking", "Threading", "DBus", "BluetoothManagement", "BlueZModel", "GatewayModel",
            "BandProfile", "CLinux",
        ]),
    library(
        "Store",
        [
            "Locking", "Threading", "SQLite", "Timekeeping", "Conditions", "GatewayModel", "BandProfile",
            "CLinux",
        ]),
    library(
        "Uplink",
        [
            "Locking", "Threading", "FileReading", "HTTPClient", "Compression", "Store", "UploadDecisions",
            "IngestAPI", "GatewayConfiguration", "GatewayModel",
        ]),
    .target(
        name: "IngestStore",
        dependencies: [
            "Locking", "Threading", "SQLite", "PostgreSQL", "SampleChunks", "Trends", "IngestAPI",
            "CivilTime",
        ],
        resources: [
            .embedInCode("Migrations/sqlite-0003.sql"), .embedInCode("Migrations/sqlite-0004.sql"),
            .embedInCode("Migrations/sqlite-0005.sql"),
            .embedInCode("Migrations/postgresql-0001.sql"), .embedInCode("Migrations/postgresql-0002.sql"),
            .embedInCode("Migrations/postgresql-0003.sql"),
        ],
        swiftSettings: settings),
    library(
        "IngestService",
        [
            "Locking", "FileReading", "HTTPServer", "Compression", "IngestStore", "ZoneDatabase", "IngestAPI",
            "CivilTime",
        ]),
    library("NetworkWatch", ["Threading", "DBus", "UploadDecisions"]),
    library("BandSimulator", ["DBus", "BandModel", "BlueZModel", "BandProfile", "CLinux"]),
    library("GatewayBus", ["Locking", "DBus", "GatewayModel", "BandProfile"]),
    library("ZoneDatabase", ["Locking", "TimeZones", "CivilTime"]),
    library("RadioSwitches", ["FileReading", "GatewayModel"]),
    library(
        "DoctorProbes",
        [
            "Locking", "FileReading", "CLinux", "DBus", "INIFile", "BlueZModel", "GatewayBus", "Uplink",
            "RadioSwitches", "Doctor", "Store",
            "GatewayConfiguration", "GatewayModel", "BandProfile",
        ]),
    library(
        "Gateway",
        [
            "Locking", "Threading", "FileReading",
            "BlueZ", "BlueZModel", "CLinux", "DBus", "HTTPClient", "Store", "Timekeeping", "Uplink",
            "UploadDecisions",
            "GatewayBus", "NetworkWatch", "RadioSwitches", "Systemd", "HTTPServer", "Metrics",
            "HistorySync", "RadioSchedule", "ZoneDatabase", "IngestAPI",
            "Conditions", "GatewayModel", "GatewayConfiguration", "BandProfile",
        ]),
]

// A MiB of what the loader reads at the start becomes 9 KiB; glibc reads it since 2.36, and lld, which writes it, is in
// every Swift toolchain.
let packedRelocations: [LinkerSetting] = [
    .unsafeFlags(
        ["-use-ld=lld", "-Xlinker", "-z", "-Xlinker", "pack-relative-relocs"],
        .when(configuration: .release))
]

let programs: [Target] = [
    program(
        "bandferryd",
        [
            "CLinux", "Gateway", "GatewayConfiguration", "GatewayModel", "INIFile", "ProcessSignals",
            "Systemd",
        ],
        linkerSettings: packedRelocations),
    program(
        "bandferry",
        [
            "GatewayBus", "Store", "INIFile", "GatewayConfiguration", "Conditions", "GatewayModel",
            "CommandLineText",
            "BandProfile", "ZoneDatabase", "Trends", "CivilTime", "IngestAPI", "DBus", "Doctor",
            "DoctorProbes", "Locking",
        ]),
    program(
        "bandferry-ingest",
        ["IngestService", "IngestStore", "GatewayModel", "Locking", "ProcessSignals", "Systemd"]),
    program("bandsim", ["BandSimulator", "BandModel", "ProcessSignals"]),
]

// Unit tests run anywhere, also in a bare chroot. System tests start real buses, daemons and servers.
let unitTests: [Target] = [
    // Programs that tests run.
    .target(name: "CProcess", path: "Tests/CProcess"),
    .target(
        name: "ProcessTestSupport", dependencies: ["CProcess", "Locking"], path: "Tests/ProcessTestSupport",
        swiftSettings: settings),
    .target(
        name: "BusTestSupport", dependencies: ["ProcessTestSupport"], path: "Tests/BusTestSupport",
        swiftSettings: settings),
    tests(
        "ConditionTests",
        ["Conditions", "GatewayModel", "BandProfile", "BlueZModel", "UploadDecisions", "IngestAPI", "Store"]),
    tests("MetricsTests", ["Metrics", "Conditions", "GatewayModel", "BandProfile", "RadioSchedule"]),
    tests(
        "DoctorTests",
        [
            "Doctor", "DoctorProbes", "Conditions", "CommandLineText", "GatewayModel", "BandProfile",
            "RadioSwitches", "UploadDecisions",
            "DBus", "Locking",
        ]),
    tests("BandProfileTests", ["BandProfile"]),
    tests("HistorySyncTests", ["HistorySync", "BandModel", "BandProfile", "GatewayModel"]),
    tests("RadioScheduleTests", ["RadioSchedule", "BandProfile", "HistorySync"]),
    tests("TimekeepingTests", ["Timekeeping", "GatewayModel"]),
    tests("BandModelTests", ["BandModel", "BandProfile"]),
    tests("BlueZModelTests", ["BlueZModel"]),
    tests("CivilTimeTests", ["CivilTime"]),
    tests("IngestAPITests", ["IngestAPI", "CivilTime", "BandProfile"]),
    tests("TrendsTests", ["Trends", "CivilTime", "IngestAPI"]),
    tests("UploadDecisionsTests", ["UploadDecisions", "IngestAPI", "CivilTime", "GatewayModel"]),
    tests(
        "GatewayConfigurationTests",
        ["GatewayConfiguration", "INIFile", "BandProfile", "GatewayModel", "UploadDecisions"]),
    tests("FileReadingTests", ["FileReading"]),
    tests("LockingTests", ["Locking", "Threading"]),
    tests("SQLiteTests", ["SQLite"]),
    tests("PostgreSQLTests", ["PostgreSQL"]),
    // Loses what was not synced, as a power cut does, and fails on demand. Also built for LD_PRELOAD by its build.sh.
    .target(
        name: "PowercutVFS", path: "Tests/powercut", exclude: ["build.sh", "kill_test.py"],
        linkerSettings: [.linkedLibrary("sqlite3")]),
    tests(
        "StoreTests",
        ["Locking", "ProcessTestSupport", "Store", "SQLite", "GatewayModel", "BandProfile", "PowercutVFS"]),
    tests("TimeSimulationTests", ["Store", "Timekeeping", "BandModel", "BandProfile", "GatewayModel"]),
    tests("CompressionTests", ["ProcessTestSupport", "Compression"]),
    tests("SampleChunksTests", ["SampleChunks", "IngestAPI"]),
    tests(
        "IngestServiceTests",
        [
            "Locking",
            "IngestService", "IngestStore", "bandferry-ingest", "HTTPServer", "HTTPClient", "SQLite",
            "SampleChunks", "ZoneDatabase", "Trends", "IngestAPI", "CivilTime", "Compression",
            "PostgreSQL", "PostgreSQLTestSupport", "ProcessTestSupport",
        ]),
    .testTarget(
        name: "UplinkTests",
        dependencies: [
            "Locking", "ProcessTestSupport",
            "Uplink", "HTTPClient", "Compression", "Store", "UploadDecisions", "IngestAPI", "GatewayModel",
            "BandProfile",
        ], exclude: ["tls_front.py"], swiftSettings: settings),
    // Two gateways and the server, all three real, over a simulated network.
    tests(
        "ConvergenceTests",
        [
            "Locking", "Store", "Uplink", "UploadDecisions", "Timekeeping", "IngestService", "IngestStore",
            "IngestAPI",
            "HTTPServer",
            "HTTPClient", "GatewayModel", "BandProfile", "BandModel", "PowercutVFS",
        ]),
    tests(
        "GatewayTests",
        [
            "Gateway", "GatewayBus", "GatewayConfiguration", "RadioSchedule", "BlueZ", "BlueZModel", "Store",
            "GatewayModel", "BandProfile", "SQLite",
            "IngestAPI",
            "Locking", "Systemd", "Uplink", "UploadDecisions",
        ]),
    tests("DBusTests", ["BusTestSupport", "Locking", "DBus"]),
    tests("NetworkWatchTests", ["BusTestSupport", "Locking", "NetworkWatch", "DBus", "UploadDecisions"]),
    tests(
        "CommandLineTests",
        ["Conditions", "Doctor", "GatewayModel", "CommandLineText", "BandProfile", "IngestAPI", "CivilTime"]),
    tests(
        "GatewayBusTests", ["BusTestSupport", "Locking", "GatewayBus", "DBus", "GatewayModel", "BandProfile"]),
    tests("SystemdTests", ["Locking", "Systemd"]),
]

let systemTests: [Target] = [
    // A private server of Debian's package for a test process.
    .target(
        name: "PostgreSQLTestSupport", dependencies: ["ProcessTestSupport", "Locking", "PostgreSQL"],
        path: "Tests/PostgreSQLTestSupport", swiftSettings: settings),
    tests("PostgreSQLSystemTests", ["PostgreSQLTestSupport", "PostgreSQL", "Locking"]),
    tests(
        "CommandLineSystemTests",
        [
            "BusTestSupport", "ProcessTestSupport", "Locking", "bandferry", "GatewayBus", "Store",
            "GatewayModel", "BandProfile",
            "CommandLineText",
        ]),
    tests("BandSimulatorSystemTests", ["BusTestSupport", "Locking", "BandSimulator", "DBus"]),
    tests(
        "BlueZSystemTests",
        ["BusTestSupport", "Locking", "BlueZ", "BandSimulator", "DBus", "GatewayModel", "BandProfile"]),
    // Beside Python's reading of this machine's zone database.
    .testTarget(
        name: "TimeZoneSystemTests",
        dependencies: [
            "ProcessTestSupport", "ZoneDatabase", "TimeZones", "Trends", "CivilTime", "IngestAPI",
        ],
        exclude: ["zones.py"], swiftSettings: settings),
]

let package = Package(
    name: "bandferry",
    products: programs.map { .executable(name: $0.name, targets: [$0.name]) },
    targets: systemLibraries + wrappers + decisions + adapters + programs + unitTests + systemTests
)
