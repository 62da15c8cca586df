import CLinux
import Dispatch
import Glibc

/// Calls a handler for signals that are sent to the process. One in a program, made before anything that takes time.
///
/// Dispatch's own source for signals needs them ignored until it listens, and one that comes in between is lost: a stop that
/// nobody hears. Here they wait in a pipe.
///
/// The source is only kept alive, and cancelled by whoever holds it last.
public final class SignalReceiver: @unchecked Sendable {
    private let source: (any DispatchSourceRead)?

    /// Where no descriptor is to be had, the signals keep their default action.
    public init(_ numbers: [Int32], handler: @escaping @Sendable (Int32) -> Void) {
        let descriptor = linux_listen_to_signals(numbers, Int32(numbers.count))
        guard descriptor >= 0 else {
            source = nil
            return
        }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: descriptor, queue: DispatchQueue(label: "signals"))
        source.setEventHandler { @Sendable in
            var number: UInt8 = 0
            while read(descriptor, &number, 1) == 1 { handler(Int32(number)) }
        }
        source.resume()
        self.source = source
    }

    deinit { source?.cancel() }
}
