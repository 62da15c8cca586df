import GatewayModel

extension UploadText {
    public static func json(_ status: UploadStatus) -> JSONText {
        .object([
            ("state", .string(status.state.rawValue)), ("url", .optional(status.url) { .string($0) }),
            ("pending", .number(status.pending)), ("in_flight", .number(status.inFlight)),
            ("paused", .optional(status.pause, json)), ("waits_until", StatusText.time(status.waitsUntil)),
            ("metered", .optional(status.metered, json)),
            ("last_success", StatusText.time(status.lastSuccess)),
            (
                "last_error",
                .optional(status.lastErrorCode) {
                    .object([("code", .string($0)), ("at", StatusText.time(status.lastErrorAt))])
                }
            ),
            ("problem", .optional(status.problem, StatusText.json)),
            ("bands", .array(status.bands.map(json))),
        ])
    }

    public static func json(_ pause: UploadPause) -> JSONText {
        .object([("since", StatusText.time(pause.since)), ("until", StatusText.time(pause.until))])
    }

    /// `{"by":"hours","until":"06:00"}`, or by a connection.
    private static func json(_ rest: MeteredRest) -> JSONText {
        switch rest {
        case .connection: return .object([("by", .string("connection")), ("until", .null)])
        case .hours(let until):
            let two = { (number: Int) in number < 10 ? "0\(number)" : "\(number)" }
            return .object([
                ("by", .string("hours")), ("until", .string("\(two(until / 60)):\(two(until % 60))")),
            ])
        }
    }

    private static func json(_ band: UploadBand) -> JSONText {
        .object([
            ("device_id", .string(band.device.text)), ("address", .string(band.address.description)),
            ("name", .optional(band.name) { .string($0) }), ("pending", .number(band.pending)),
            ("kept", .array(band.kept.map(json))),
        ])
    }

    private static func json(_ samples: KeptSamples) -> JSONText {
        .object([
            ("reason", .string(samples.reason.rawValue)),
            ("code", .optional(samples.code.isEmpty ? nil : samples.code) { .string($0) }),
            ("ring", .string(samples.ring.description)), ("count", .number(samples.count)),
            ("ranges", ranges(samples.ranges)),
            ("from", StatusText.time(samples.from)), ("to", StatusText.time(samples.to)),
        ])
    }

    /// `[{"first_seq":3,"last_seq":4}]`.
    static func ranges(_ ranges: [ClosedRange<UInt32>]) -> JSONText {
        .array(
            ranges.map {
                .object([("first_seq", .number($0.lowerBound)), ("last_seq", .number($0.upperBound))])
            })
    }
}
