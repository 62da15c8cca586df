import GatewayModel
import SQLite

extension Store {
    /// What trouble there is with a band's bond, and how often it was tried.
    public func bondWatch(of device: DeviceID) throws(StoreError) -> BondWatch {
        try read("look at a bond") { engine in
            try engine.database.first(
                "SELECT bond_trouble, bond_tries, bond_rest_until FROM bands WHERE device = ?",
                .text(device.text)
            ) { row in
                BondWatch(
                    trouble: row.optionalText(0).flatMap { BondTrouble(rawValue: $0) }, tries: row.int(1),
                    restUntil: row.optionalInt64(2).map { Timestamp(milliseconds: $0) })
            } ?? BondWatch()
        }
    }

    public func setBondWatch(_ watch: BondWatch, of device: DeviceID) throws(StoreError) {
        try write("note a bond") { engine, _ in
            try engine.database.run(
                "UPDATE bands SET bond_trouble = ?2, bond_tries = ?3, bond_rest_until = ?4 WHERE device = ?1",
                .text(device.text), .optional(watch.trouble?.rawValue), .int(watch.tries),
                .optional(watch.restUntil?.milliseconds))
        }
    }
}
