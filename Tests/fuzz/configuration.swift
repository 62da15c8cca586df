import BandModel
import GatewayConfiguration
import INIFile

/// A configuration file, and the fault script of a simulated band.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzConfiguration(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    if input.below(8) == 0 {
        _ = try? FaultScript(String(decoding: input.rest(), as: UTF8.self))
        return 0
    }
    guard let entries = try? INIFile.parse(input.rest(), file: "fuzz") else { return 0 }
    let lines = entries.map {
        ConfigurationLine(section: $0.section, key: $0.key, value: $0.value, number: $0.line)
    }
    do {
        let (configuration, _) = try Configuration.read(lines, file: "fuzz")
        for band in configuration.bands {
            require(configuration.band(band.address) == band, "a band is named once")
        }
    } catch {
        require(!error.notes.isEmpty && !error.description.isEmpty, "what is wrong is said")
    }
    return 0
}
