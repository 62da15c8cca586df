import Locking

/// An exported tree of objects in BlueZ's own manner: path, interfaces, properties.
///
/// It answers Properties, Introspectable and one ObjectManager at `root` by itself, and sends InterfacesAdded,
/// InterfacesRemoved and PropertiesChanged in the order of the calls below, which may come from any thread.
/// Handlers are called on the connection's queue and may call back into the tree.
public final class ObjectTree: Sendable {
    public typealias MethodHandler = @Sendable (MethodCall) -> CallOutcome

    /// What a property hook decides about a `Set` of a writable property.
    public enum SetOutcome: Sendable {
        /// Store it, signal the change, then reply.
        case store
        /// The hook has stored what it wants (with `setProperties`): reply.
        case done
        case refuse(BusError)
        /// The reply follows with `BusConnection.reply(to: call.token, with:)`.
        case later
    }
    /// Called with the call, the path, the interface, the property's name and its new value.
    public typealias SetHook =
        @Sendable (MethodCall, _ interface: String, _ name: String, BusValue) -> SetOutcome

    struct Object {
        var interfaces: [InterfaceDescription]
        var properties: [String: BusProperties]
    }

    struct State {
        /// In the order of export, which GetManagedObjects keeps.
        var paths: [String] = []
        var objects: [String: Object] = [:]
        var handlers: [MethodName: MethodHandler] = [:]
        var setHook: SetHook?
        var post: (@Sendable (BusMessage) -> Void)?
        var isMute = false
        /// Calls that wait for a service that hangs; nil = it does not.
        var held: [MethodCall]?
    }

    struct MethodName: Hashable {
        var interface: String
        var member: String
    }

    /// Where the ObjectManager is: "/" for BlueZ.
    public let root: String
    let state = Guarded(State())

    public init(root: String) { self.root = root }

    func attach(_ post: @escaping @Sendable (BusMessage) -> Void) {
        state.withLock { $0.post = post }
    }

    /// Calls are left unanswered from now on, or answered again: a service that hangs.
    public func setMute(_ isMute: Bool) { state.withLock { $0.isMute = isMute } }

    /// Calls are kept from now on, and carried out by `letGo`: a service that hangs for a while.
    public func hold() { state.withLock { $0.held = $0.held ?? [] } }

    /// Carries out what was kept, in order; false = it is thrown away. `reply` is told what each is answered.
    public func letGo(carryingOut: Bool = true, reply: (MethodCall, CallOutcome) -> Void) {
        let calls = state.withLock { state in
            defer { state.held = nil }
            return state.held ?? []
        }
        for call in calls {
            guard carryingOut else {
                reply(call, .never)
                continue
            }
            switch answer(call) {
            case .later: break
            case let outcome?: reply(call, outcome)
            case nil: reply(call, .never)
            }
        }
    }

    // MARK: handlers

    /// Answers one method on every object that has the interface. `call.path` names the object.
    public func onCall(_ interface: String, _ member: String, _ handler: @escaping MethodHandler) {
        state.withLock { $0.handlers[MethodName(interface: interface, member: member)] = handler }
    }

    /// Asked before a writable property is set by a client; without a hook every value of the right type is stored.
    public func onSet(_ hook: @escaping SetHook) {
        state.withLock { $0.setHook = hook }
    }

    // MARK: objects

    /// Exports an object, or adds interfaces to it.
    public func export(
        _ path: String, _ interfaces: [InterfaceDescription], properties: [String: BusProperties] = [:],
        signal: Bool = true
    ) {
        state.withLock { state in
            var added: [InterfaceDescription] = []
            if state.objects[path] == nil {
                state.paths.append(path)
                state.objects[path] = Object(interfaces: [], properties: [:])
                added = [.introspectable, .propertiesInterface]
            }
            guard var object = state.objects[path] else { return }
            for interface in interfaces {
                object.interfaces.removeAll { $0.name == interface.name }
                object.interfaces.append(interface)
                object.properties[interface.name] = properties[interface.name] ?? [:]
            }
            state.objects[path] = object
            guard signal, path != root else { return }
            let listed = (added + interfaces).map { Self.entry($0, of: object) }
            state.post(
                BusSignal(
                    path: root, interface: InterfaceDescription.objectManager.name, member: "InterfacesAdded",
                    arguments: [.objectPath(path), .dictionary(key: "s", value: "a{sv}", listed)]))
        }
    }

    /// Removes an object, all its interfaces in one signal. Children are objects of their own: remove them first.
    public func remove(_ path: String, signal: Bool = true) {
        state.withLock { state in
            guard let object = state.objects.removeValue(forKey: path) else { return }
            state.paths.removeAll { $0 == path }
            guard signal, path != root else { return }
            let standard = [
                InterfaceDescription.propertiesInterface.name, InterfaceDescription.introspectable.name,
            ]
            state.post(removed(path, standard + object.interfaces.map(\.name)))
        }
    }

    /// Removes one interface of an object.
    public func remove(_ path: String, interface: String, signal: Bool = true) {
        state.withLock { state in
            guard var object = state.objects[path],
                object.interfaces.contains(where: { $0.name == interface })
            else { return }
            object.interfaces.removeAll { $0.name == interface }
            object.properties[interface] = nil
            state.objects[path] = object
            if signal { state.post(removed(path, [interface])) }
        }
    }

    private func removed(_ path: String, _ interfaces: [String]) -> BusSignal {
        BusSignal(
            path: root, interface: InterfaceDescription.objectManager.name, member: "InterfacesRemoved",
            arguments: [.objectPath(path), .strings(interfaces)])
    }

    // MARK: properties

    /// Sets properties and tells so in one PropertiesChanged; `invalidated` ones are gone afterwards.
    public func setProperties(
        _ path: String, _ interface: String, _ properties: BusProperties, invalidated: [String] = [],
        signal: Bool = true
    ) {
        state.withLock { state in
            guard state.objects[path]?.properties[interface] != nil else { return }
            for (name, value) in properties { state.objects[path]?.properties[interface]?[name] = value }
            for name in invalidated { state.objects[path]?.properties[interface]?[name] = nil }
            guard signal else { return }
            state.post(
                BusSignal(
                    path: path, interface: InterfaceDescription.propertiesInterface.name,
                    member: "PropertiesChanged",
                    arguments: [.string(interface), .properties(properties), .strings(invalidated)]))
        }
    }

    public func property(_ path: String, _ interface: String, _ name: String) -> BusValue? {
        state.withLock { $0.objects[path]?.properties[interface]?[name] }
    }

    public func properties(_ path: String, _ interface: String) -> BusProperties? {
        state.withLock { $0.objects[path]?.properties[interface] }
    }

    /// The exported paths, in the order of export.
    public var paths: [String] { state.withLock(\.paths) }

    public func contains(_ path: String) -> Bool { state.withLock { $0.objects[path] != nil } }

    public func has(_ path: String, interface: String) -> Bool {
        state.withLock { $0.objects[path]?.interfaces.contains { $0.name == interface } ?? false }
    }
}

extension ObjectTree.State {
    /// Posted inside the lock, so that signals leave in the order of the changes.
    func post(_ signal: BusSignal) {
        guard let post, let message = try? BusMessage.signal(signal, to: nil) else { return }
        post(message)
    }
}

extension ObjectTree {
    /// `interface: {name: value}` with the properties in the order of the description.
    static func entry(_ interface: InterfaceDescription, of object: Object) -> BusEntry {
        BusEntry(.string(interface.name), properties(of: interface, in: object))
    }

    static func properties(of interface: InterfaceDescription, in object: Object) -> BusValue {
        let values = object.properties[interface.name] ?? [:]
        let described = interface.properties.map(\.name)
        let others =
            described.count >= values.count ? [] : values.keys.filter { !described.contains($0) }.sorted()
        return .dictionary(
            key: "s", value: "v",
            (described + others).compactMap { name in
                values[name].map { BusEntry(.string(name), .variant($0)) }
            })
    }
}
