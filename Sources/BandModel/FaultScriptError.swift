/// A fault script that can't be read: which item, and what is wrong with it.
public struct FaultScriptError: Error, Equatable, Sendable, CustomStringConvertible {
    /// The item's place in the script, from 1.
    public var item: Int
    public var text: String
    public var problem: String

    public var description: String { "fault script, item \(item) \"\(text)\": \(problem)" }
}
