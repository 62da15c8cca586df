-- All that a day of a device comes to in one row, packed: see TrendCode. What was stored before stays readable as it was,
-- a line for each type and wearer, until its day is computed again; samples of frozen days may be gone.
CREATE TABLE packed_days (
    device_id BYTEA NOT NULL,
    day BIGINT NOT NULL,
    content BYTEA NOT NULL,
    PRIMARY KEY (device_id, day)
);
INSERT INTO packed_days
    SELECT device_id, day, convert_to(
        string_agg(person || chr(9) || type || chr(9) || content, chr(10) ORDER BY type, person), 'UTF8')
    FROM trend_days GROUP BY device_id, day;
DROP TABLE trend_days;
ALTER TABLE packed_days RENAME TO trend_days;
ALTER INDEX packed_days_pkey RENAME TO trend_days_pkey;
