import CivilTime
import HTTPServer
import IngestAPI
import IngestStore
import ZoneDatabase

extension ServerRequest {
    func aggregateQuery(zones: ZoneDatabase) throws(APIFailure) -> AggregateQuery {
        let subject = try subject()
        guard let name = try single("type") else { throw .malformed("type is missing") }
        guard let type = APISampleType(rawValue: name) else { throw .malformed("type is not known") }
        guard let bucket = AggregateBucketSize(rawValue: try single("bucket") ?? "day") else {
            throw .malformed("bucket is not day or hour")
        }
        let (from, to) = (try date("from"), try date("to"))
        guard from <= to else { throw .malformed("from is after to") }
        let longest = AggregateQuery.longest(bucket)
        guard from.distance(to: to) < longest else {
            throw .malformed(
                "from and to span more than \(longest) days, which is the most by \(bucket.rawValue)")
        }
        return AggregateQuery(
            subject: subject, type: type, bucket: bucket, dates: from...to, zone: try zone(zones))
    }

    private func date(_ name: String) throws(APIFailure) -> CivilDate {
        guard let text = try single(name) else { throw .malformed("\(name) is missing") }
        guard let date = CivilDate(text) else { throw .malformed("\(name) is not a date such as 2026-10-27") }
        return date
    }

    private func zone(_ zones: ZoneDatabase) throws(APIFailure) -> ZoneRules? {
        guard let name = try single("tz") else { return nil }
        guard IngestAPI.isZoneName(name), let rules = zones.rules(named: name) else {
            throw .malformed("tz is not a zone that this server knows")
        }
        return rules
    }
}
