/// Names of BlueZ's D-Bus API.
public enum BlueZName {
    public static let service = "org.bluez"
    public static let properties = "org.freedesktop.DBus.Properties"
    public static let adapter = "org.bluez.Adapter1"
    public static let device = "org.bluez.Device1"
    public static let gattService = "org.bluez.GattService1"
    public static let characteristic = "org.bluez.GattCharacteristic1"
    public static let descriptor = "org.bluez.GattDescriptor1"
    public static let battery = "org.bluez.Battery1"
    public static let agentManager = "org.bluez.AgentManager1"
    public static let agent = "org.bluez.Agent1"
}

/// 128-bit UUIDs of the standard characteristics that are read of a band, as BlueZ prints them.
public enum StandardUUID {
    public static let batteryLevel = "00002a19-0000-1000-8000-00805f9b34fb"
    public static let firmware = "00002a26-0000-1000-8000-00805f9b34fb"
}
