import GatewayModel

/// The zones of a person who is known at two places, by what each changed since they last agreed.
public enum ZoneMerge {
    /// - Parameters:
    ///   - local: as they are here.
    ///   - server: as they are there.
    ///   - base: as the server had them when they were last compared.
    /// - Returns: by rising `from`. What was changed here wins over what was changed there.
    public static func merged(local: [ZoneStay], server: [ZoneStay], base: [ZoneStay]) -> [ZoneStay] {
        let (mine, theirs, before) = (byBeginning(local), byBeginning(server), byBeginning(base))
        var result = theirs
        for (from, zone) in mine where before[from] != zone { result[from] = zone }
        // Taken away here, and not changed there meanwhile.
        for (from, zone) in before where mine[from] == nil && theirs[from] == zone { result[from] = nil }
        return result.map { ZoneStay(zone: $0.value, from: $0.key) }.sorted { $0.from < $1.from }
    }

    /// Where two lists begin to differ; nil = nowhere.
    public static func firstDifference(_ first: [ZoneStay], _ second: [ZoneStay]) -> Timestamp? {
        Set(first).symmetricDifference(second).map(\.from).min()
    }

    private static func byBeginning(_ stays: [ZoneStay]) -> [Timestamp: String] {
        Dictionary(stays.map { ($0.from, $0.zone) }, uniquingKeysWith: { $1 })
    }
}
