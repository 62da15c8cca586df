import CDBus

extension BusValue {
    /// The value's signature, as its parts declare it.
    public var typeSignature: String {
        switch self {
        case .byte: "y"
        case .bool: "b"
        case .int16: "n"
        case .uint16: "q"
        case .int32: "i"
        case .uint32: "u"
        case .int64: "x"
        case .uint64: "t"
        case .double: "d"
        case .string: "s"
        case .objectPath: "o"
        case .signature: "g"
        case .bytes: "ay"
        case .array(let element, _): "a" + element
        case .dictionary(let key, let value, _): "a{" + key + value + "}"
        case .structure(let fields): "(" + fields.map(\.typeSignature).joined() + ")"
        case .variant: "v"
        case .fileDescriptor: "h"
        }
    }

    /// Throws unless D-Bus can carry the value. libdbus aborts the process over what this lets through.
    func validate(depth: Int = 0) throws(BusError) {
        guard depth < maximumBusDepth else { throw .invalid("values are nested too deeply") }
        switch self {
        case .byte, .bool, .int16, .uint16, .int32, .uint32, .int64, .uint64, .double, .bytes: break
        case .string(let text):
            guard !text.utf8.contains(0) else { throw .invalid("a string holds a NUL") }
        case .objectPath(let path):
            guard isObjectPath(path) else { throw .invalid("'\(path)' is no object path") }
        case .signature(let signature):
            guard isSignature(signature) else { throw .invalid("'\(signature)' is no signature") }
        case .array(let element, let values):
            guard isSingleType(element) else { throw .invalid("'\(element)' is no element type") }
            for value in values { try value.validate(as: element, depth: depth + 1) }
        case .dictionary(let key, let value, let entries):
            guard isSingleType("a{\(key)\(value)}") else {
                throw .invalid("'{\(key)\(value)}' is no entry type")
            }
            for entry in entries {
                try entry.key.validate(as: key, depth: depth + 2)
                try entry.value.validate(as: value, depth: depth + 2)
            }
        case .structure(let fields):
            guard !fields.isEmpty else { throw .invalid("a structure has no field") }
            for field in fields { try field.validate(depth: depth + 1) }
        case .variant(let value):
            guard isSingleType(value.typeSignature) else { throw .invalid("a variant holds no single type") }
            try value.validate(depth: depth + 1)
        case .fileDescriptor(let descriptor):
            guard descriptor >= 0 else { throw .invalid("a file descriptor is negative") }
        }
    }

    private func validate(as signature: String, depth: Int) throws(BusError) {
        guard typeSignature == signature else {
            throw .invalid("a '\(typeSignature)' stands where '\(signature)' is declared")
        }
        try validate(depth: depth)
    }
}

/// Containers inside containers that are read or written; libdbus itself stops at 64.
let maximumBusDepth = 48

func isObjectPath(_ text: String) -> Bool { !text.utf8.contains(0) && dbus_validate_path(text, nil) != 0 }
func isInterfaceName(_ text: String) -> Bool {
    !text.utf8.contains(0) && dbus_validate_interface(text, nil) != 0
}
func isMemberName(_ text: String) -> Bool { !text.utf8.contains(0) && dbus_validate_member(text, nil) != 0 }
func isBusName(_ text: String) -> Bool { !text.utf8.contains(0) && dbus_validate_bus_name(text, nil) != 0 }
func isErrorName(_ text: String) -> Bool {
    !text.utf8.contains(0) && dbus_validate_error_name(text, nil) != 0
}
private func isSignature(_ text: String) -> Bool {
    !text.utf8.contains(0) && dbus_signature_validate(text, nil) != 0
}
private func isSingleType(_ text: String) -> Bool {
    !text.utf8.contains(0) && dbus_signature_validate_single(text, nil) != 0
}
