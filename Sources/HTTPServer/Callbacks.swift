import CMicrohttpd
import Glibc

/// MHD_AccessHandlerCallback: called with the headers, again when a connection that was suspended then is
/// resumed, with each part of the body, at its end, and once more when the answer is there. `slot` holds the
/// exchange, retained until `requestCompleted`.
func accessHandler(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?, _ url: UnsafePointer<CChar>?,
    _ method: UnsafePointer<CChar>?, _ version: UnsafePointer<CChar>?, _ data: UnsafePointer<CChar>?,
    _ size: UnsafeMutablePointer<Int>?, _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?
) -> MHD_Result {
    guard let context, let connection, let size, let slot else { return bandferry_mhd_result(false) }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    let isCrowded = bandferry_mhd_is_crowded_query(slot.pointee)
    guard let known = slot.pointee, !isCrowded else {
        let line = RequestLine(method: method, target: url, version: version)
        let exchange = newExchange(connection, line: line, isCrowded: isCrowded, core: core)
        slot.pointee = Unmanaged.passRetained(exchange).toOpaque()
        return core.begin(exchange, connection)
    }
    let exchange = Unmanaged<Exchange>.fromOpaque(known).takeUnretainedValue()
    switch exchange.takeTurn() {
    case .judgement(let refusal): return core.goOn(exchange, connection, refusal: refusal)
    case .answer(let response): return core.send(response, exchange, on: connection)
    case .body: break
    }
    guard size.pointee > 0 else { return core.run(exchange, connection) }
    guard let data else { return bandferry_mhd_result(false) }
    let count = size.pointee
    size.pointee = 0
    return data.withMemoryRebound(to: UInt8.self, capacity: count) {
        core.receive(UnsafeBufferPointer(start: $0, count: count), exchange, connection)
    }
}

/// MHD_RequestCompletedCallback.
func requestCompleted(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ reason: MHD_RequestTerminationCode
) {
    guard let context, let connection, let slot, let known = slot.pointee else { return }
    slot.pointee = nil
    // It ended before its headers were in.
    if bandferry_mhd_is_crowded_query(known) { return }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    core.end(Unmanaged<Exchange>.fromOpaque(known).takeRetainedValue(), connection)
}

/// MHD_AcceptPolicyCallback.
func acceptPolicy(
    _ context: UnsafeMutableRawPointer?, _ address: UnsafePointer<sockaddr>?, _ length: socklen_t
) -> MHD_Result {
    guard let context else { return bandferry_mhd_result(false) }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    return bandferry_mhd_result(core.watch.admits(ClientAddress(address)))
}

/// MHD_NotifyConnectionCallback: after a connection is accepted, and before its descriptor is closed.
func connectionChanged(
    _ context: UnsafeMutableRawPointer?, _ connection: OpaquePointer?,
    _ slot: UnsafeMutablePointer<UnsafeMutableRawPointer?>?, _ code: MHD_ConnectionNotificationCode
) {
    guard let context, let connection else { return }
    let core = Unmanaged<ServerCore>.fromOpaque(context).takeUnretainedValue()
    guard bandferry_mhd_is_start(code) else { return core.watch.closed(connection) }
    slot?.pointee = core.tls.map { UnsafeMutableRawPointer($0.slot) }
    core.watch.opened(
        connection, descriptor: bandferry_mhd_socket(connection),
        address: ClientAddress(bandferry_mhd_client_address(connection)))
}

/// `isCrowded`: the parameters were too many, and are not there any more.
private func newExchange(
    _ connection: OpaquePointer, line: RequestLine, isCrowded: Bool, core: ServerCore
) -> Exchange {
    let target = line.target.text
    let arguments = fields(of: connection, bandferry_mhd_each_argument)
    let headers = fields(of: connection, bandferry_mhd_each_header)
    let layout = HeadLayout(
        line: line, arguments: arguments, headers: headers, size: bandferry_mhd_head_size(connection))
    let head = RequestHead(
        targetBytes: arguments.reduce(line.target.count) { $0 + $1.name.count + $1.value.count + 2 },
        headers: headers.map(\.text), isAsItCame: !bandferry_mhd_is_lax() || layout.isWhole)
    var request = ServerRequest(
        method: line.method.text, path: [], headers: head.headers,
        client: ClientAddress(bandferry_mhd_client_address(connection)))
    let fault = isCrowded ? .tooManyParameters(limit: core.limits.parameters) : head.fault(core.limits)
    if let fault {
        return Exchange(request: request, refusal: core.refuse(fault), isUnframed: true)
    }
    let query = arguments.map { argument -> HTTPField? in
        let field = argument.text
        guard let name = percentDecoded(field.name), let value = percentDecoded(field.value) else {
            return nil
        }
        return HTTPField(name, value)
    }
    request.query = query.compactMap { $0 }
    guard let path = pathSegments(RequestHead.path(target)), query.allSatisfy({ $0 != nil }) else {
        return Exchange(request: request, refusal: core.refuse(.malformedTarget))
    }
    request.path = path
    return Exchange(request: request, refusal: nil)
}

/// Collects headers or parameters of one request.
private final class FieldList {
    var fields: [HeadField] = []
}

private typealias EachField = (OpaquePointer?, MHD_KeyValueIteratorN?, UnsafeMutableRawPointer?) -> Int32

/// Good for as long as the request's callback runs.
private func fields(of connection: OpaquePointer, _ each: EachField) -> [HeadField] {
    let list = FieldList()
    let collect: MHD_KeyValueIteratorN = { context, _, name, nameSize, value, valueSize in
        guard let context, let name else { return bandferry_mhd_result(true) }
        let list = Unmanaged<FieldList>.fromOpaque(context).takeUnretainedValue()
        list.fields.append(
            HeadField(
                name: HeadText(start: name, count: nameSize), value: HeadText(start: value, count: valueSize))
        )
        return bandferry_mhd_result(true)
    }
    withExtendedLifetime(list) { _ = each(connection, collect, Unmanaged.passUnretained(list).toOpaque()) }
    return list.fields
}
