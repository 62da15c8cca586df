// PLAN of the public face of this target. The author of DBus replaces this file by real ones
// (one type a file) and keeps these signatures; others write against them at once.

/// A D-Bus value. Signatures are D-Bus's own.
public indirect enum BusValue: Equatable, Sendable {
    case byte(UInt8)
    case bool(Bool)
    case int16(Int16)
    case uint16(UInt16)
    case int32(Int32)
    case uint32(UInt32)
    case int64(Int64)
    case uint64(UInt64)
    case double(Double)
    case string(String)
    case objectPath(String)
    case signature(String)
    /// `ay`, without a value per byte.
    case bytes([UInt8])
    /// Any other array; `element` is the element's signature, so that an empty array has one.
    case array(element: String, [BusValue])
    /// `a{kv}`; keys keep their order.
    case dictionary(key: String, value: String, [BusEntry])
    case structure([BusValue])
    case variant(BusValue)
    /// `h`. Owned by whoever takes it from the message: close it or wrap it.
    case fileDescriptor(Int32)
}
public struct BusEntry: Equatable, Sendable {
    public var key: BusValue
    public var value: BusValue
    public init(_ key: BusValue, _ value: BusValue) { self.key = key; self.value = value }
}

/// `a{sv}` as a Swift dictionary, values unwrapped from their variants.
public typealias BusProperties = [String: BusValue]

public struct BusError: Error, Equatable, Sendable {
    /// `org.bluez.Error.Failed`, or this target's own `org.bandferry.Error.Disconnected` / `.Deadline`.
    public var name: String
    public var message: String
    public init(name: String, message: String) { self.name = name; self.message = message }
}

public enum BusAddress: Sendable, Equatable {
    /// Honours DBUS_SYSTEM_BUS_ADDRESS.
    case system
    case session
    case address(String)
}

public struct MethodCall: Sendable {
    public var destination: String?
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]
    /// Unique name of the caller; set on incoming calls.
    public var sender: String?
    /// Identifies an incoming call for `BusConnection.reply`.
    public var token: UInt64
}
public struct BusSignal: Sendable, Equatable {
    public var path: String
    public var interface: String
    public var member: String
    public var arguments: [BusValue]
    public var sender: String?
}
/// What a handler of incoming calls decides. `later` = reply with `BusConnection.reply(to:with:)`; `never` = no reply ever.
public enum CallOutcome: Sendable {
    case reply([BusValue])
    case failure(BusError)
    case later
    case never
}

// public actor BusConnection   (libdbus with watch/timeout/dispatch functions on the actor's own serial queue; never blocks)
//   public static func open(_ address: BusAddress) async throws -> BusConnection
//   public nonisolated let uniqueName: String
//   public func call(_ destination: String, path: String, interface: String, _ member: String,
//                    _ arguments: [BusValue] = [], deadline: Duration, autoStart: Bool = false) async throws(BusError) -> [BusValue]
//   public func callWithoutReply(same arguments, no deadline)            // queued; flushed by the watch
//   public func requestName(_ name: String) async throws(BusError) -> Bool   // false: somebody else owns it
//   public func releaseName
//   public func addMatch(_ rule: String) async throws(BusError)
//   /// Every signal, in the order of arrival, on the connection's queue: must return at once.
//   public func setSignalHandler(_ handler: @escaping @Sendable (BusSignal) -> Void)
//   /// Calls that no ObjectTree answers. In order of arrival, on the connection's queue.
//   public func setCallHandler(_ handler: @escaping @Sendable (MethodCall) -> CallOutcome)
//   public func reply(to token: UInt64, with outcome: CallOutcome)      // .reply or .failure
//   public func emit(_ signal: BusSignal, to destination: String? = nil)
//   /// Called once when the bus drops us.
//   public func setDisconnectHandler(_ handler: @escaping @Sendable () -> Void)
//   public func close()
//   public func flush() async      // everything queued has been written to the socket
//
// public final class ObjectTree (isolated to the BusConnection that it serves; methods called through the actor)
//   An exported tree of objects in BlueZ's own manner: path -> interface -> properties, with
//   org.freedesktop.DBus.Properties (Get, GetAll, Set), Introspectable and one ObjectManager at a chosen root.
//   It emits InterfacesAdded/InterfacesRemoved/PropertiesChanged itself, in the order of the calls below.
//   init(root: String)           // where the ObjectManager is: "/" for BlueZ
//   export(path, [InterfaceDescription], properties: [interface: BusProperties])
//   remove(path) ; setProperties(path, interface, BusProperties, invalidated: [String] = [], signal: Bool = true)
//   handlers: per (interface, member) method handler (MethodCall) -> CallOutcome; property setter hook (path, interface, name, value) -> BusError?
//   Unknown object/interface/method errors exactly as BlueZ words them (…UnknownObject / UnknownMethod / InvalidArgs "No such property 'X'").
