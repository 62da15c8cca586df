extension UploadSchedule {
    public struct Limits: Equatable, Sendable {
        public var batchSize: Int
        public var backOff: BackOff.Limits
        /// How often a refused token is tried again unchanged.
        public var credentials: Duration
        /// How often a server that refuses everything is probed.
        public var refusing: Duration
        /// Ingest API 1: "after 3 single samples in a row it stops".
        public var refusedSingles: Int

        public init(
            batchSize: Int = 500, backOff: BackOff.Limits = BackOff.Limits(),
            credentials: Duration = .seconds(3600),
            refusing: Duration = .seconds(3600), refusedSingles: Int = 3
        ) {
            self.batchSize = max(1, batchSize)
            self.backOff = backOff
            self.credentials = credentials
            self.refusing = refusing
            self.refusedSingles = max(1, refusedSingles)
        }
    }

    /// What goes up of a device beside its samples.
    public enum Report: CaseIterable, Sendable {
        /// What the server confirmed earlier.
        case samples
        case gaps
        case status
    }

    /// How the next batch of a device is to be cut.
    public struct BatchPlan: Equatable, Sendable {
        public var limit: Int
        /// Send one sample picked at random: the server refused single samples, and only one that it takes shows
        /// that it is the samples' fault. Nothing is quarantined meanwhile.
        public var isProbe: Bool
        public var isCompressed: Bool
    }

    /// What the caller does to the outbox after a batch.
    public enum BatchAction: Equatable, Sendable {
        case nothing
        case settle(BatchVerdict)
        case quarantine(Refusal)
    }
}
