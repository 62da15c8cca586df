// How the tree answers calls, with the errors and the texts of BlueZ.

extension ObjectTree {
    /// True for an exported object and for the nodes above one.
    func knows(_ path: String) -> Bool {
        state.withLock { $0.objects[path] != nil } || path == root || !children(of: path).isEmpty
    }

    /// Nil when the tree has nothing to say about the call's method.
    func answer(_ call: MethodCall) -> CallOutcome? {
        if state.withLock(\.isMute) { return .never }
        let isKept = state.withLock { state in
            state.held?.append(call)
            return state.held != nil
        }
        if isKept { return .later }
        switch (call.interface, call.member) {
        case (InterfaceDescription.introspectable.name, "Introspect"): return introspect(call)
        case (InterfaceDescription.objectManager.name, "GetManagedObjects") where call.path == root:
            return getManagedObjects(call)
        case (InterfaceDescription.propertiesInterface.name, _): return properties(call)
        default: return method(call)
        }
    }

    // MARK: methods

    private func method(_ call: MethodCall) -> CallOutcome? {
        let handler: MethodHandler? = state.withLock { state in
            guard let object = state.objects[call.path] else { return nil }
            for interface in object.interfaces
            where call.interface.isEmpty || call.interface == interface.name {
                guard let method = interface.methods.first(where: { $0.name == call.member }),
                    method.signature == call.signature
                else { continue }
                return state.handlers[MethodName(interface: interface.name, member: call.member)]
            }
            return nil
        }
        return handler.map { $0(call) }
    }

    // MARK: org.freedesktop.DBus.Introspectable

    private func introspect(_ call: MethodCall) -> CallOutcome? {
        guard call.signature.isEmpty else { return nil }
        let object = state.withLock { $0.objects[call.path] }
        let children = children(of: call.path)
        guard object != nil || call.path == root || !children.isEmpty else { return nil }
        var interfaces = [InterfaceDescription.introspectable]
        if let object { interfaces += [.propertiesInterface] + object.interfaces }
        if call.path == root { interfaces.append(.objectManager) }
        return .reply([.string(Introspection.xml(interfaces: interfaces, children: children))])
    }

    /// Names of the nodes right below a path, exported or on the way to an exported one.
    private func children(of path: String) -> [String] {
        let prefix = path == "/" ? "/" : path + "/"
        let names = paths.compactMap { other -> String? in
            guard other.hasPrefix(prefix), other != path else { return nil }
            let name = other.dropFirst(prefix.count).prefix { $0 != "/" }
            return name.isEmpty ? nil : String(name)
        }
        return Set(names).sorted()
    }

    // MARK: org.freedesktop.DBus.ObjectManager

    private func getManagedObjects(_ call: MethodCall) -> CallOutcome? {
        guard call.signature.isEmpty else { return nil }
        let prefix = root == "/" ? "/" : root + "/"
        let objects = state.withLock { state in
            state.paths.compactMap { path -> BusEntry? in
                guard path != root, path.hasPrefix(prefix), let object = state.objects[path] else {
                    return nil
                }
                let interfaces = [.introspectable, .propertiesInterface] + object.interfaces
                return BusEntry(
                    .objectPath(path),
                    .dictionary(key: "s", value: "a{sv}", interfaces.map { Self.entry($0, of: object) }))
            }
        }
        return .reply([.dictionary(key: "o", value: "a{sa{sv}}", objects)])
    }

    // MARK: org.freedesktop.DBus.Properties

    private func properties(_ call: MethodCall) -> CallOutcome? {
        guard let object = state.withLock({ $0.objects[call.path] }) else { return nil }
        switch (call.member, call.signature) {
        case ("Get", "ss"), ("GetAll", "s"), ("Set", "ssv"): break
        default: return nil
        }
        let interfaceName = call.arguments.first?.text ?? ""
        let standard = [InterfaceDescription.introspectable, .propertiesInterface]
        guard let interface = (object.interfaces + standard).first(where: { $0.name == interfaceName }) else {
            return .failure(.invalidArguments("No such interface '\(interfaceName)'"))
        }
        if call.member == "GetAll" { return .reply([Self.properties(of: interface, in: object)]) }
        let name = call.arguments[1].text ?? ""
        let value = object.properties[interfaceName]?[name]
        if call.member == "Get" {
            guard let value else { return .failure(.invalidArguments("No such property '\(name)'")) }
            return .reply([.variant(value)])
        }
        return set(call, interface, name, call.arguments[2].unwrapped)
    }

    private func set(
        _ call: MethodCall, _ interface: InterfaceDescription, _ name: String, _ value: BusValue
    ) -> CallOutcome {
        guard let property = interface.properties.first(where: { $0.name == name }) else {
            return .failure(.invalidArguments("No such property '\(name)'"))
        }
        guard property.writable else {
            return .failure(
                BusError(
                    name: "org.freedesktop.DBus.Error.PropertyReadOnly",
                    message: "Property '\(name)' is not writable"))
        }
        guard property.signature == value.typeSignature else {
            return .failure(
                BusError(
                    name: "org.freedesktop.DBus.Error.InvalidSignature",
                    message: "Invalid signature for '\(name)'"))
        }
        switch state.withLock({ $0.setHook })?(call, interface.name, name, value) ?? .store {
        case .store:
            setProperties(call.path, interface.name, [name: value])
            return .reply([])
        case .done: return .reply([])
        case .refuse(let error): return .failure(error)
        case .later: return .later
        }
    }
}
