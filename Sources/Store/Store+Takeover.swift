import BandProfile
import GatewayModel
import SQLite

extension Store {
    /// Takes a band over from a gateway that is lost: adopts it as owned here, begins each ring after what the server has,
    /// and knows its gaps, all in one transaction. Returns the seq from which each ring is read.
    ///
    /// - Parameters:
    ///   - rings: as the server first saw them, the oldest first.
    ///   - gaps: the server has them already.
    public func takeOver(
        address: BluetoothAddress, device: DeviceID, name: String?, rings: [KnownRing], maxVersion: Int,
        gaps: [Gap]
    ) throws(StoreError) -> [(ring: RingID, nextSeq: UInt32)] {
        try write("take a band over") { engine, now in
            // How it was acked here before stays so.
            let ack = try engine.bands.adopted().first { $0.device == device }?.ack ?? .stored
            try engine.bands.adopt(
                AdoptedBand(
                    address: address, device: device, mode: .own, ack: ack, name: name, configured: false))
            let band = try engine.bands.require(device)
            for known in rings {
                _ = try engine.applyServerState(
                    band: band, ring: known.ring, completeThrough: known.completeThrough,
                    maxVersion: maxVersion, now: now)
            }
            for gap in gaps {
                guard let ring = try engine.rings.find(band: band, gap.ring) else { continue }
                try engine.writer.gaps.noteKnown(gap, ring: ring.id, now: now)
            }
            return try rings.compactMap { known in
                try engine.rings.find(band: band, known.ring).map { (known.ring, $0.nextSeqOnWire) }
            }
        }
    }
}
