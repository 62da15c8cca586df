import CDBus

/// A message's header and arguments, without a bus.
public struct ParsedBusMessage: Equatable, Sendable {
    public enum Kind: Equatable, Sendable { case call, reply, error, signal }
    public var kind: Kind
    public var path: String?
    public var interface: String?
    public var member: String?
    public var errorName: String?
    public var sender: String?
    public var arguments: [BusValue]
}

/// Reads marshalled messages with the code that reads those of a bus: for captured bytes and for fuzzing.
public enum BusMessageParser {
    /// Throws a `BusError` for bytes that are no message or that this target refuses to decode.
    public static func parse(_ bytes: [UInt8]) throws(BusError) -> ParsedBusMessage {
        guard let size = Int32(exactly: bytes.count), size > 0 else { throw .refused("it is empty") }
        let pointer = try throwing { error in
            bytes.withUnsafeBytes { buffer in
                dbus_message_demarshal(buffer.baseAddress?.assumingMemoryBound(to: CChar.self), size, error)
            }
        }
        guard let pointer else { throw .refused("it is incomplete") }
        return try parse(BusMessage(owning: pointer))
    }

    private static func parse(_ message: BusMessage) throws(BusError) -> ParsedBusMessage {
        let kind: ParsedBusMessage.Kind =
            switch dbus_message_get_type(message.pointer) {
            case BusMessageType.call: .call
            case BusMessageType.reply: .reply
            case BusMessageType.error: .error
            case BusMessageType.signal: .signal
            default: throw .refused("its type is unknown")
            }
        var decoder = MessageDecoder(budget: MessageLimits.values, takesFileDescriptors: false)
        return ParsedBusMessage(
            kind: kind,
            path: text(dbus_message_get_path(message.pointer)),
            interface: text(dbus_message_get_interface(message.pointer)),
            member: text(dbus_message_get_member(message.pointer)),
            errorName: text(dbus_message_get_error_name(message.pointer)),
            sender: text(dbus_message_get_sender(message.pointer)),
            arguments: try decoder.arguments(of: message.pointer))
    }
}

enum MessageLimits {
    /// Values in one message: a GetManagedObjects of hundreds of devices has some ten thousand.
    static let values = 1 << 18
    /// Calls that were answered with `later` and not yet replied to.
    static let openCalls = 4_096
}

func text(_ start: UnsafePointer<CChar>?) -> String? { start.map { String(cString: $0) } }
