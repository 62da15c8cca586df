import Compression

/// A body from the network, whatever it claims to hold.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzzGzip(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
    var input = FuzzInput(start, count)
    let limit = [0, 1, 1_000, 1 << 16][input.below(4)]
    guard let value = try? Gzip.decompress(input.rest(), limit: limit) else { return 0 }
    require(value.count <= limit, "no value is larger than its limit")
    guard let again = try? Gzip.compress(value, level: 1) else {
        fatalError("what was read can't be written")
    }
    require((try? Gzip.decompress(again, limit: limit)) == value, "a value comes back as it was")
    return 0
}
