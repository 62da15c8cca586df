/// A write to the Control Point. Band History Profile 1, "Streams".
public enum ControlPointCommand: Equatable, Sendable {
    case sendFrom(UInt32)
    case abort

    public init(decoding bytes: [UInt8]) throws(ControlPointError) {
        switch bytes.first {
        case 0x01:
            guard bytes.count == 5 else { throw .wrongLength }
            let seq = bytes.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: 1, as: UInt32.self) }
            self = .sendFrom(UInt32(littleEndian: seq))
        case 0x02:
            guard bytes.count == 1 else { throw .wrongLength }
            self = .abort
        case nil:
            throw .wrongLength
        default:
            throw .unknownOpcode
        }
    }

    public var encoded: [UInt8] {
        switch self {
        case .sendFrom(let seq):
            var bytes: [UInt8] = [0x01]
            bytes.appendLittleEndian(seq)
            return bytes
        case .abort:
            return [0x02]
        }
    }
}

/// Application errors of the Control Point: the ATT error code is the raw value.
public enum ControlPointError: UInt8, Error, Sendable {
    /// This link already runs a stream.
    case busy = 0x80
    case unknownOpcode = 0x81
    case wrongLength = 0x82
    case notificationsNotEnabled = 0x83
}

/// A write to Ack: every record with seq at or below it may be freed.
public enum Ack {
    public static func encode(_ seq: UInt32) -> [UInt8] {
        var bytes: [UInt8] = []
        bytes.appendLittleEndian(seq)
        return bytes
    }

    /// Nil unless exactly four bytes.
    public static func decode(_ bytes: [UInt8]) -> UInt32? {
        guard bytes.count == 4 else { return nil }
        return bytes.withUnsafeBytes { UInt32(littleEndian: $0.loadUnaligned(as: UInt32.self)) }
    }
}
