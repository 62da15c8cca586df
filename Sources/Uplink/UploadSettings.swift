import HTTPClient
import UploadDecisions

/// Where to upload to, and how patiently.
public struct UploadSettings: Sendable {
    /// Nil = no server is configured: nothing is sent and every question is answered so.
    public var url: String?
    public var tokenFile: String
    public var transport: TransportSettings
    public var limits: SendLimits
    public var intervals: UploadIntervals

    public init(
        url: String?, tokenFile: String, transport: TransportSettings = TransportSettings(),
        limits: SendLimits = SendLimits(), intervals: UploadIntervals = UploadIntervals()
    ) {
        self.url = url.map { $0.hasSuffix("/") ? String($0.dropLast()) : $0 }
        self.tokenFile = tokenFile
        self.transport = transport
        self.limits = limits
        self.intervals = intervals
    }
}

/// How much may be sent, and when history has to wait.
public struct SendLimits: Equatable, Sendable {
    /// Nil = no cap. Counted over requests and answers.
    public var bytesPerSecond: Int?
    public var meteredHours: MeteredHours
    public var onMetered: OnMetered

    public init(
        bytesPerSecond: Int? = nil, meteredHours: MeteredHours = MeteredHours(),
        onMetered: OnMetered = .upload
    ) {
        self.bytesPerSecond = bytesPerSecond
        self.meteredHours = meteredHours
        self.onMetered = onMetered
    }
}

/// Every wait of the uploader, in one place; tests shorten them.
public struct UploadIntervals: Sendable {
    /// Commits within this time go up together.
    public var merge: Duration
    /// The outbox is looked at this often even when nobody calls.
    public var idle: Duration
    /// A band's status goes up at most this often.
    public var report: Duration
    /// A token file that can't be used is looked at this often.
    public var tokenCheck: Duration
    /// Samples kept back for want of consent are tried again this often.
    public var held: Duration
    /// Gaps and status that the server did not take are tried again this often.
    public var refusedReport: Duration
    /// The server's state of a band is read again after this, before the next status goes up; after twice this at last.
    public var state: Duration
    /// Persons are read from the server this often.
    public var persons: Duration
    /// What lies here of a band that another gateway syncs, too, is compared with what the server has this often, so many
    /// samples at a time.
    public var sweep: Duration
    public var sweepCount: Int
    /// For how long a band stays this gateway's when it is not heard of; it is asked for anew after a third of that.
    public var lease: Duration
    public var connectDeadline: Duration
    public var requestDeadline: Duration
    public var limits: UploadSchedule.Limits

    public init(
        merge: Duration = .seconds(1), idle: Duration = .seconds(60), report: Duration = .seconds(300),
        tokenCheck: Duration = .seconds(10), held: Duration = .seconds(3600),
        refusedReport: Duration = .seconds(3600), state: Duration = .seconds(3600),
        persons: Duration = .seconds(21_600), sweep: Duration = .seconds(43_200), sweepCount: Int = 10_000,
        lease: Duration = .seconds(3600),
        connectDeadline: Duration = .seconds(15),
        requestDeadline: Duration = .seconds(60), limits: UploadSchedule.Limits = UploadSchedule.Limits()
    ) {
        self.merge = merge
        self.idle = idle
        self.report = report
        self.tokenCheck = tokenCheck
        self.held = held
        self.refusedReport = refusedReport
        self.state = state
        self.persons = persons
        self.sweep = sweep
        self.sweepCount = sweepCount
        self.lease = lease
        self.connectDeadline = connectDeadline
        self.requestDeadline = requestDeadline
        self.limits = limits
    }
}
