import CDBus

// What arrives: replies for our calls, signals, and calls for us.

extension BusTransport {
    func handleSignal(_ message: OpaquePointer) {
        guard let signalHandler else { return }
        var decoder = MessageDecoder(budget: MessageLimits.values, takesFileDescriptors: false)
        // Nobody waits for an answer to a signal: one that can't be read is dropped.
        guard let arguments = try? decoder.arguments(of: message) else { return }
        signalHandler(
            BusSignal(
                path: text(dbus_message_get_path(message)) ?? "/",
                interface: text(dbus_message_get_interface(message)) ?? "",
                member: text(dbus_message_get_member(message)) ?? "",
                arguments: arguments, sender: text(dbus_message_get_sender(message))))
    }

    func handleReply(_ message: OpaquePointer) {
        // A reply that nobody waits for any more is dropped, and its file descriptors with it.
        guard let entry = pending.take(serial: dbus_message_get_reply_serial(message)) else { return }
        var decoder = MessageDecoder(
            budget: MessageLimits.values, takesFileDescriptors: entry.takesFileDescriptors)
        let isError = dbus_message_get_type(message) == BusMessageType.error
        do throws(BusError) {
            let arguments = try decoder.arguments(of: message)
            guard isError else {
                entry.complete(.success(arguments))
                return
            }
            for argument in arguments { argument.closeFileDescriptors() }
            entry.complete(
                .failure(
                    BusError(
                        name: text(dbus_message_get_error_name(message))
                            ?? "org.freedesktop.DBus.Error.Failed",
                        message: arguments.first?.text ?? "")))
        } catch {
            entry.complete(.failure(error))
        }
    }

    func handleCall(_ message: BusMessage) {
        guard let token = outbox.open(message) else {
            answer(
                message,
                .failure(
                    BusError(
                        name: "org.freedesktop.DBus.Error.LimitsExceeded", message: "too many calls wait here"
                    )))
            return
        }
        switch outcome(of: message, token: token) {
        case .later: break
        case .never: _ = outbox.take(token)
        case let outcome: reply(to: token, with: outcome)
        }
    }

    private func outcome(of message: BusMessage, token: UInt64) -> CallOutcome {
        var decoder = MessageDecoder(budget: MessageLimits.values, takesFileDescriptors: false)
        let arguments: [BusValue]
        do throws(BusError) {
            arguments = try decoder.arguments(of: message.pointer)
        } catch {
            return .failure(error)
        }
        let call = MethodCall(
            destination: text(dbus_message_get_destination(message.pointer)),
            path: text(dbus_message_get_path(message.pointer)) ?? "/",
            interface: text(dbus_message_get_interface(message.pointer)) ?? "",
            member: text(dbus_message_get_member(message.pointer)) ?? "",
            arguments: arguments, sender: text(dbus_message_get_sender(message.pointer)), token: token,
            signature: text(dbus_message_get_signature(message.pointer)) ?? "")
        if let outcome = tree?.answer(call) { return outcome }
        if let callHandler { return callHandler(call) }
        return .failure(.unknownMethod(call, objectExists: tree?.knows(call.path) ?? false))
    }

    /// Answers an incoming call, from any thread, behind all that was posted before.
    func reply(to token: UInt64, with outcome: CallOutcome) {
        guard let call = outbox.take(token) else {
            if case .reply(let values) = outcome { for value in values { value.closeFileDescriptors() } }
            return
        }
        answer(call, outcome)
    }

    private func answer(_ call: BusMessage, _ outcome: CallOutcome) {
        guard call.expectsReply else {
            if case .reply(let values) = outcome { for value in values { value.closeFileDescriptors() } }
            return
        }
        switch outcome {
        case .later, .never: break
        case .failure(let error):
            if let message = call.failure(error) { post(message) }
        case .reply(let values):
            do throws(BusError) {
                post(try call.reply(values))
            } catch {
                if let message = call.failure(error) { post(message) }
            }
        }
    }
}

extension BusError {
    /// As libdbus words it, newline included.
    static func unknownMethod(_ call: MethodCall, objectExists: Bool) -> BusError {
        BusError(
            name: "org.freedesktop.DBus.Error." + (objectExists ? "UnknownMethod" : "UnknownObject"),
            message: "Method \"\(call.member)\" with signature \"\(call.signature)\" on interface "
                + "\"\(call.interface.isEmpty ? "(null)" : call.interface)\" doesn't exist\n")
    }
}
