import DBus

/// Errors with which a test wants calls to be answered instead of what BlueZ would do: each name and text that there is.
struct ScriptedAnswers {
    private var answers: [String: (error: BusError, left: Int)] = [:]

    /// The next `times` calls of the method; 0 = as BlueZ does again.
    mutating func set(_ method: String, _ error: BusError, times: Int) {
        answers[method] = times > 0 ? (error, times) : nil
    }

    /// The arguments of the control interface's `Answer`.
    mutating func set(_ arguments: [BusValue]) {
        guard arguments.count == 4, let method = arguments[0].text, let name = arguments[1].text,
            let text = arguments[2].text, let times = arguments[3].integer
        else { return }
        set(method, BusError(name: name, message: text), times: times)
    }

    /// Of this call; nil = it is carried out.
    mutating func take(_ method: String) -> BusError? {
        guard let (error, left) = answers[method] else { return nil }
        answers[method] = left > 1 ? (error, left - 1) : nil
        return error
    }
}
