/// What came of a look at what the server has.
public struct AdoptionReport: Equatable, Sendable {
    /// Samples that are now as the server has them.
    public var adopted: Int
    /// Of those, the ones that are derived again, because what is known here was not weighed against it.
    public var marked: Int

    public init(adopted: Int = 0, marked: Int = 0) {
        self.adopted = adopted
        self.marked = marked
    }
}
