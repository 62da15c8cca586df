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
    guard let known = slot.pointee else {
        let exchange = newExchange(connection, url: url, method: method, core: core)
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

private func newExchange(
    _ connection: OpaquePointer, url: UnsafePointer<CChar>?, method: UnsafePointer<CChar>?, core: ServerCore
) -> Exchange {
    let target = url.map { String(cString: $0) } ?? ""
    let arguments = fields(of: connection, bandferry_mhd_each_argument)
    let head = RequestHead(
        targetBytes: arguments.reduce(target.utf8.count) {
            $0 + $1.name.utf8.count + $1.value.utf8.count + 2
        },
        headers: fields(of: connection, bandferry_mhd_each_header))
    var request = ServerRequest(
        method: method.map { String(cString: $0) } ?? "", path: [], headers: head.headers,
        client: ClientAddress(bandferry_mhd_client_address(connection)))
    if let fault = head.fault(core.limits) {
        return Exchange(request: request, refusal: core.refuse(fault), isUnframed: true)
    }
    let query = arguments.map { field -> HTTPField? in
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
