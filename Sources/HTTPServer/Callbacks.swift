import CMicrohttpd

/// MHD_AccessHandlerCallback: called with the headers, then with each part of the body, then at its end, and
/// once more after a suspended connection is resumed. `slot` holds the exchange, retained until
/// `requestCompleted`.
func accessHandler(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let size, let slot else { return bandferry_mhd_result(false) }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    guard let known = slot.pointee else {
        let exchange = newExchange(connection, url: url, method: method, core: core)
        slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return core.begin(exchange, connection)
    }
    let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
    if let response = exchange.response { return core.send(response, on: connection) }
    guard size.pointee > 0 else { return core.run(exchange, connection) }
    guard let data else { return bandferry_mhd_result(false) }
    let count = size.pointee
    size.pointee = 0
    return data.withMemoryRebound(to: UInt8.self, capacity: count) {
        let bytes = UnsafeBufferPointer(start: $0, count: count)
        return bandferry_mhd_result(exchange.receive(bytes, limits: core.limits, refuse: core.refuse))
    }
}

/// MHD_RequestCompletedCallback.
func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let context, let slot, let known = slot.pointee else { return }
    slot.pointee = nil
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    core.end(Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue())
}

private func newExchange(
    _ connection: OpaquePointer, url: UnsafePointer<CChar>?, method: UnsafePointer<CChar>?, core: ServerCore
) -> Exchange {
    let path = url.flatMap { pathSegments(String(cString: $0)) }
    let query = fields(of: connection, bandferry_mhd_each_argument).map { field -> HTTPField? in
        guard let name = percentDecoded(field.name), let value = percentDecoded(field.value) else {
            return nil
        }
        return HTTPField(name, value)
    }
    let request = ServerRequest(
        method: method.map { String(cString: $0) } ?? "", path: path ?? [], query: query.compactMap { $0 },
        headers: fields(of: connection, bandferry_mhd_each_header))
    let sound = path != nil && query.allSatisfy { $0 != nil }
    return Exchange(request: request, refusal: sound ? core.admit(request) : core.refuse(.malformedTarget))
}

/// Collects headers or parameters of one request.
private final class FieldList {
    var fields: [HTTPField] = []
}

private typealias EachField = (OpaquePointer?, MHD_KeyValueIterator?, UnsafeMutableRawPointer?) -> Int32

private func fields(of connection: OpaquePointer, _ each: EachField) -> [HTTPField] {
    let list = FieldList()
    let collect: MHD_KeyValueIterator = { context, _, name, value in
        guard let context, let name else { return bandferry_mhd_result(true) }
        let list = Unmanaged<FieldList>.fromOpaque(context).takeUnretainedValue()
        list.fields.append(HTTPField(String(cString: name), value.map { String(cString: $0) } ?? ""))
        return bandferry_mhd_result(true)
    }
    withExtendedLifetime(list) { _ = each(connection, collect, Unmanaged.passUnretained(list).toOpaque()) }
    return list.fields
}
