/// Reads one item of a fault script: `name[:value][@N][:amount]` or `name=seq`.
struct FaultParser {
    private let item: Substring
    private let place: Int
    private var rest: Substring

    init(item: Substring, place: Int) {
        self.item = item
        self.place = place
        rest = item
    }

    mutating func parse() throws(FaultScriptError) -> Fault {
        let name = word()
        guard let kind = FaultKind(rawValue: name.filter { $0 != "-" }.lowercased()) else {
            throw failure("no fault is called \"\(name)\"")
        }
        var fault = Fault(kind: kind, trigger: .always, amount: kind.defaultAmount ?? 0, method: nil)
        if take("=") {
            guard kind.allowsSeq else { throw failure("\(name) is not tied to a seq; use \(name)@N") }
            fault.trigger = .seq(try number(UInt32.self, "seq"))
            return try finish(fault)
        }
        if kind.needsMethod {
            guard take(":") else { throw failure("\(name) needs a method: \(name):ReadValue") }
            fault.method = String(word())
        }
        if kind == .slow {
            guard take(":") else { throw failure("slow needs notifications a second: slow:420") }
            fault.amount = Int64(try number(UInt32.self, "notifications a second"))
            return try finish(fault)
        }
        if take(":") {
            let text = word()
            guard let probability = Double(text), (0...1).contains(probability) else {
                throw failure("\"\(text)\" is not a probability between 0 and 1")
            }
            fault.trigger = .probability(probability)
        } else if take("@") {
            let count = try number(UInt64.self, "count")
            guard count > 0 else { throw failure("events are counted from 1") }
            fault.trigger = .at(count)
        }
        if take(":") {
            guard kind.defaultAmount != nil else { throw failure("\(name) has no amount") }
            fault.amount = Int64(try number(UInt32.self, "amount"))
        }
        if kind == .unreadable || kind == .absent { throw failure("\(name) needs a seq: \(name)=1234") }
        return try finish(fault)
    }

    private func finish(_ fault: Fault) throws(FaultScriptError) -> Fault {
        guard rest.isEmpty else { throw failure("\"\(rest)\" is left over") }
        return fault
    }

    private mutating func take(_ mark: Character) -> Bool {
        guard rest.first == mark else { return false }
        rest.removeFirst()
        return true
    }

    private mutating func word() -> Substring {
        let end = rest.firstIndex { $0 == ":" || $0 == "@" || $0 == "=" } ?? rest.endIndex
        defer { rest = rest[end...] }
        return rest[..<end]
    }

    private mutating func number<Value: FixedWidthInteger>(
        _: Value.Type, _ meaning: String
    ) throws(FaultScriptError) -> Value {
        let text = word()
        guard let value = Value(text) else { throw failure("\"\(text)\" is not a \(meaning)") }
        return value
    }

    private func failure(_ problem: String) -> FaultScriptError {
        FaultScriptError(item: place, text: String(item), problem: problem)
    }
}
