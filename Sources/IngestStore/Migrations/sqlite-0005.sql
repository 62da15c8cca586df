-- From when to when a device has samples, so that nobody reads its chunks for that. They may be earlier and later than what
-- is left after an expiry.
ALTER TABLE devices ADD COLUMN first_ms INTEGER;
ALTER TABLE devices ADD COLUMN last_ms INTEGER;
ALTER TABLE devices ADD COLUMN expired_last_ms INTEGER;
UPDATE devices SET
    first_ms = (SELECT min(c.first_ms) FROM chunks c WHERE c.device_id = devices.device_id),
    last_ms = (SELECT max(c.last_ms) FROM chunks c WHERE c.device_id = devices.device_id);
