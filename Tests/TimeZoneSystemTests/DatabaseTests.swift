import CivilTime
import Glibc
import Testing
import TimeZones

@testable import ZoneDatabase

@Suite struct DatabaseTests {
    /// A line of `zones.py offsets`.
    struct Offsets: Decodable {
        var zone: String
        /// Seconds since 1970, minutes.
        var offsets: [[Int64]]
    }

    @Test("every zone of the database, 1970 to 2037") func everyZone() throws {
        let database = ZoneDatabase()
        let zones = try Python.lines(Offsets.self, ["offsets"])
        #expect(zones.count > 400)
        for zone in zones {
            let rules = try #require(database.rules(named: zone.zone), "\(zone.zone)")
            let different = zone.offsets.first { rules.offsetMinutes(at: $0[0] * 1000) != Int($0[1]) }
            #expect(different == nil, "\(zone.zone)")
        }
        #expect(database.entryCount == ZoneDatabase.maxEntries)
    }

    static let noZones: [String] = [
        "", "Europe", "Europe/", "/usr/share/zoneinfo/UTC", "Europe/../UTC", "../zoneinfo/UTC", "./UTC",
        "UTC/",
        "Europe//London", "EST5EDT4,M3.2.0,M11.1.0", "EST5EDT4", "+05:30", "05:30", "-3", "GMT+1", "Z",
        "utc\u{0}",
        "right/Europe/London", "posix/UTC", "posixrules", "localtime", "tzdata.zi", "zone.tab", "leapseconds",
        "iso3166.tab", "Nowhere/Atlantis", "Asia/Kolkata ", "Asia/Kolkata\n", "Ásia/Kolkata",
        String(repeating: "A", count: 65),
    ]

    // Not as arguments: the names would be printed, control characters and all.
    @Test("what is no name of a zone has no rules") func noZone() {
        for name in Self.noZones {
            #expect(ZoneDatabase().rules(named: name) == nil, "\(name.debugDescription)")
        }
    }

    @Test("an updated zone is read again, a removed one is gone") func update() throws {
        let directory = try TemporaryDirectory()
        let database = ZoneDatabase(directory: ZoneDirectory(path: directory.path))
        #expect(database.rules(named: "Home") == nil)
        try directory.copy("/usr/share/zoneinfo/Asia/Kolkata", to: "Home")
        #expect(database.rules(named: "Home")?.offsetMinutes(at: 0) == 330)
        try directory.copy("/usr/share/zoneinfo/Asia/Kathmandu", to: "Home")
        #expect(database.rules(named: "Home")?.offsetMinutes(at: 1_700_000_000_000) == 345)
        try directory.write("TZif", to: "Broken")
        #expect(database.rules(named: "Broken") == nil)
        try directory.write(String(repeating: "not a zone\n", count: 40), to: "Notes")
        #expect(database.rules(named: "Notes") == nil)
        directory.remove("Home")
        #expect(database.rules(named: "Home") == nil)
    }

    @Test("the host's zone is the link's target, else the file's line, else UTC") func host() throws {
        let directory = try TemporaryDirectory()
        let (link, file) = (directory.path + "/localtime", directory.path + "/timezone")
        #expect(HostZone.name(localtime: link, timezone: file) == "UTC")
        try directory.write("Asia/Kolkata\n", to: "timezone")
        #expect(HostZone.name(localtime: link, timezone: file) == "Asia/Kolkata")
        try directory.write("a file that is no link", to: "localtime")
        #expect(HostZone.name(localtime: link, timezone: file) == "Asia/Kolkata")
        for (target, name) in [
            ("/usr/share/zoneinfo/Europe/London", "Europe/London"),
            ("../usr/share/zoneinfo/America/Argentina/Ushuaia", "America/Argentina/Ushuaia"),
            ("/nowhere/zoneinfo/posix/UTC", "Asia/Kolkata"), ("/nowhere", "Asia/Kolkata"),
        ] {
            directory.remove("localtime")
            symlink(target, link)
            #expect(HostZone.name(localtime: link, timezone: file) == name)
        }
        directory.remove("localtime")
        symlink("/usr/share/zoneinfo/Asia/Tokyo", directory.path + "/other")
        symlink("other", link)
        #expect(HostZone.name(localtime: link, timezone: file) == "Asia/Tokyo")
        try directory.write("../../etc/passwd\n", to: "timezone")
        directory.remove("localtime")
        #expect(HostZone.name(localtime: link, timezone: file) == "UTC")
    }
}
