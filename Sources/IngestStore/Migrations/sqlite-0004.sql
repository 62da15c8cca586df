-- All that a day of a device comes to in one row, packed: see TrendCode. What was stored before stays readable as it was,
-- a line for each type and wearer, until its day is computed again; samples of frozen days may be gone.
CREATE TABLE packed_days (
    device_id BLOB NOT NULL,
    day INTEGER NOT NULL,
    content BLOB NOT NULL,
    PRIMARY KEY (device_id, day)
) STRICT;
INSERT INTO packed_days
    SELECT device_id, day, CAST(group_concat(person || char(9) || type || char(9) || content, char(10)) AS BLOB)
    FROM (SELECT * FROM trend_days ORDER BY device_id, day, type, person) GROUP BY device_id, day;
DROP TABLE trend_days;
ALTER TABLE packed_days RENAME TO trend_days;
