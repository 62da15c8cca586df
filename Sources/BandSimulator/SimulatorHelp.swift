/// What `bandsim --help` prints.
public enum SimulatorHelp {
    public static let text = """
        bandsim - bands without hardware

        bandsim bus     serve org.bluez with simulated bands behind it on a D-Bus address
        bandsim radio   be one band, over the air, on a second adapter
        bandsim truth   print every record that the bands of a state directory have ever measured

        Bus and files
          --address ADDRESS, --system   the bus; default: DBUS_SYSTEM_BUS_ADDRESS, else the system bus
          --also-on ADDRESS             bus: another host that hears the same bands, with a BlueZ of its own on this bus; a band has
                                        one link at a time; may be repeated
          --adapter hciN                radio: the band's adapter
          --state DIRECTORY             bands outlive restarts here
          --ack-log FILE                a JSON line for every ack: honoured, ignored, lost; "host" counts buses from 0
          --truth FILE                  a JSON line for every record ever measured, written at start and stop

        Bands
          --bands N                     how many, with consecutive addresses and seeds (1)
          --first-address ADDRESS       bus: F0:F1:F2:F3:F4:F0; radio: the adapter has it
          --address-file FILE           radio: the band's address is written here once it advertises
          --name NAME                   radio: the advertised name (Band 01)
          --seed N                      everything follows from it (1)
          --records N                   measured before the start (1000)
          --capacity N                  of the ring, in records (1000000)
          --window N                    notifications without an ack, 0 = no limit (64)
          --interval MS                 between two records (1000)
          --record-every MS             go on measuring
          --clock-offset MS, --drift PPM, --clock-steps N
                                        the band's clock beside true time
          --utc-offset MINUTES|unknown  of the wearer (120)
          --lifelike                    nights and days as a wearer might have them; else values are mixed
          --rate N                      notifications a second, 0 = as fast as they are taken
          --faults SCRIPT, --faults-for ADDRESS=SCRIPT
                                        see below

        BlueZ (--require-pairing and --no-acquire-notify also on the radio, the rest on the bus only)
          --bluez-version 5.66|5.84     (5.66)
          --mtu N                       (247)
          --no-acquire-notify           StartNotify only
          --require-pairing             Band History asks for a bond
          --pairing KIND                bus: how the bond is made: just-works, passkey-entry (the band shows a passkey),
                                        passkey-display (it is entered at the band), numeric-comparison
          --passkey N                   bus: the passkey (123456)
          --time-scale X                BlueZ's own delays, this much shorter (1)
          --att-latency MS              a request and its response (5)
          --socket-buffer BYTES         of an acquired socket (212992)
          --slots N                     links that the adapter holds; one more drops another
          --adapter-faults SCRIPT       neveranswer:METHOD@N and failcall:METHOD@N of the adapter's methods
          --systemd                     a systemd on the bus that can restart bluetooth.service

        Faults: NAME (always), NAME:CHANCE, NAME@N (the Nth), NAME=SEQ; several with commas
          drop duplicate truncate badversion badkind badorder reorder empty      one notification
          disconnect stall overwrite@N:RECORDS reformat@N:RECORDS rollback@N:RECORDS clockstep@N:MS
                                                                                 at the Nth notification
          noend lateend lostack slow:RATE                                        ends, acks, pace
          badtype badms badoffset badvalue                                       content, stays with the record
          unreadable=SEQ absent=SEQ                                              every time
          connectfails connecthangs quietconnect lateservices@N:MS lateobjects@N:MS noobjects silent@N vanish
          notifyrefused pairfails smallmtu deadsocket forgotten@N                BlueZ and the link (bus only)
          neveranswer:METHOD@N failcall:METHOD@N                                 one call (bus only)

        Tests control the bands through org.bandferry.Simulator1 on the same bus, one object a band:
        /org/bandferry/simulator/dev_F0_F1_F2_F3_F4_F0; and the adapter through org.bandferry.SimulatedAdapter1 at
        /org/bandferry/simulator/adapter. LoseBond makes a band forget its keys, and BlueZ does not learn of it; Answer METHOD ERROR
        TEXT N has the next N calls of a method answered with an error; PlugForeign N plugs an adapter without bands in. Wedge leaves calls
        unanswered for good; Hang keeps them and has them carried out when it ends; SlowPowerOff MS makes the controller slow to be
        switched off, and whoever sets Powered meanwhile is answered Busy.
        """
}
