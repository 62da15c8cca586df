import BandProfile
import GatewayConfiguration
import INIFile
import Testing

/// What `forget` says of a band in the file: done as it is said, it takes that band out and changes no other.
@Suite struct RemovalTests {
    private static let files = [
        "[bands]\nadopt = F0:F1:F2:F3:F4:F5\n",
        "[bands]\nadopt = F0:F1:F2:F3:F4:F4, F0:F1:F2:F3:F4:F5, F0:F1:F2:F3:F4:F6\n",
        "[bands]\nadopt = any, F0:F1:F2:F3:F4:F5\n",
        "[bands]\nadopt = F0:F1:F2:F3:F4:F5, f0:f1:f2:f3:f4:f5\n[band F0:F1:F2:F3:F4:F6]\nname = Ben\n",
        """
        # Two bands.
        [gateway]
        sync_interval = 60

        [bands]
        adopt = F0:F1:F2:F3:F4:F4, F0:F1:F2:F3:F4:F5
        [band F0:F1:F2:F3:F4:F4]
        mode = own
        [band F0:F1:F2:F3:F4:F5]
        # as the nurse wants it
        mode = observe

        colour = red
        # the end
        [band F0:F1:F2:F3:F4:F6]
        [time]
        trust = always
        """,
        "[band F0:F1:F2:F3:F4:F5]\n[bands]\nadopt = F0:F1:F2:F3:F4:F5\nadopt = F0:F1:F2:F3:F4:F4\n",
        "[band F0:F1:F2:F3:F4:F5]\nname = A\n[band F0:F1:F2:F3:F4:F4]\n[band F0:F1:F2:F3:F4:F5]\nmode = own\n",
    ]

    private func read(_ text: String) throws -> Configuration {
        let entries = try INIFile.parse(Array(text.utf8), file: "test.conf")
        return try Configuration.read(
            entries.map {
                ConfigurationLine(section: $0.section, key: $0.key, value: $0.value, number: $0.line)
            }, file: "test.conf"
        ).configuration
    }

    /// Step by step, by the words alone.
    private func follow(_ advice: String, for band: BluetoothAddress, in text: String) throws -> String {
        var lines = text.split(separator: "\n", omittingEmptySubsequences: false).map(String.init)
        for step in advice.split(separator: ";") {
            let numbers = step.split(whereSeparator: { $0 == " " || $0 == "," }).compactMap { Int($0) }
            let first = try #require(numbers.first)
            let last = try #require(numbers.last)
            if step.contains("remove") {
                lines.removeSubrange(first - 1...last - 1)
            } else {
                #expect(step.contains("take it out of `adopt`"))
                let names = lines[first - 1].drop { $0 != "=" }.dropFirst()
                let rest = names.split(whereSeparator: { $0 == " " || $0 == "," }).filter {
                    BluetoothAddress($0) != band
                }
                lines[first - 1] = "adopt = " + rest.joined(separator: ", ")
            }
        }
        return lines.joined(separator: "\n")
    }

    @Test(arguments: files) func theAdviceTakesOutOneBandAndChangesNoOther(_ text: String) throws {
        let before = try read(text)
        for band in before.bands {
            let after = try read(follow(band.removal, for: band.address, in: text))
            func others(_ configuration: Configuration) -> Configuration {
                var others = configuration
                others.bands = configuration.bands.filter { $0.address != band.address }
                for index in others.bands.indices { others.bands[index].places = [] }
                return others
            }
            #expect(after.band(band.address) == nil, "\(band.removal)")
            #expect(others(after) == others(before), "\(band.removal)")
        }
    }

    @Test func theAdviceNamesThePlaces() throws {
        let bands = try read(Self.files[4]).bands
        #expect(
            bands.map(\.removal) == [
                "remove its section, lines 7 to 8; take it out of `adopt` in line 6",
                "remove its section, lines 9 to 13; take it out of `adopt` in line 6",
                "remove its section, line 15",
            ])
        #expect(try read(Self.files[0]).bands.map(\.removal) == ["remove line 2, `adopt`"])
    }
}
