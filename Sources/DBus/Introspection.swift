/// Introspection data of one object, as the D-Bus specification's DTD has it.
enum Introspection {
    static func xml(interfaces: [InterfaceDescription], children: [String]) -> String {
        var xml = """
            <!DOCTYPE node PUBLIC "-//freedesktop//DTD D-BUS Object Introspection 1.0//EN"
            "http://www.freedesktop.org/standards/dbus/1.0/introspect.dtd">
            <node>

            """
        for interface in interfaces { append(interface, to: &xml) }
        for child in children { xml += "  <node name=\"\(escaped(child))\"/>\n" }
        return xml + "</node>\n"
    }

    private static func append(_ interface: InterfaceDescription, to xml: inout String) {
        xml += "  <interface name=\"\(escaped(interface.name))\">\n"
        for method in interface.methods {
            xml += "    <method name=\"\(escaped(method.name))\">\n"
            for argument in method.takes { append(argument, direction: "in", to: &xml) }
            for argument in method.returns { append(argument, direction: "out", to: &xml) }
            xml += "    </method>\n"
        }
        for signal in interface.signals {
            xml += "    <signal name=\"\(escaped(signal.name))\">\n"
            for argument in signal.arguments { append(argument, direction: nil, to: &xml) }
            xml += "    </signal>\n"
        }
        for property in interface.properties {
            xml += "    <property name=\"\(escaped(property.name))\" type=\"\(escaped(property.signature))\""
            xml += " access=\"\(property.writable ? "readwrite" : "read")\"/>\n"
        }
        xml += "  </interface>\n"
    }

    private static func append(
        _ argument: InterfaceDescription.Argument, direction: String?, to xml: inout String
    ) {
        xml += "      <arg name=\"\(escaped(argument.name))\" type=\"\(escaped(argument.signature))\""
        if let direction { xml += " direction=\"\(direction)\"" }
        xml += "/>\n"
    }

    private static func escaped(_ text: String) -> String {
        guard text.contains(where: { "<>&\"'".contains($0) }) else { return text }
        return text.reduce(into: "") { result, character in
            switch character {
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "&": result += "&amp;"
            case "\"": result += "&quot;"
            case "'": result += "&apos;"
            default: result.append(character)
            }
        }
    }
}
