/// What became of `assign`. Anything but `done` changed nothing.
public enum AssignOutcome: Equatable, Sendable {
    case done
    /// Two people can't wear one band at the same time.
    case overlaps(Assignment)
    case unknownPerson
    case unknownBand
    /// `to` is not after `from`.
    case emptyInterval
}

/// What became of `removePerson`. Anything but `done` changed nothing.
public enum RemovePersonOutcome: Equatable, Sendable {
    case done
    /// They wear a band, or wore one then.
    case wears(Assignment)
    /// Samples that are stored here are theirs.
    case hasSamples
    case unknownPerson
}
