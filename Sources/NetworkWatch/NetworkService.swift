import DBus
import UploadDecisions

/// Who may know of the network.
enum NetworkService: CaseIterable {
    case networkManager
    case networkd

    var name: String {
        switch self {
        case .networkManager: "org.freedesktop.NetworkManager"
        case .networkd: "org.freedesktop.network1"
        }
    }

    var path: String {
        switch self {
        case .networkManager: "/org/freedesktop/NetworkManager"
        case .networkd: "/org/freedesktop/network1"
        }
    }

    var interface: String {
        switch self {
        case .networkManager: "org.freedesktop.NetworkManager"
        case .networkd: "org.freedesktop.network1.Manager"
        }
    }
}

extension NetworkView.ManagerReport {
    init(_ properties: BusProperties) {
        self.init(
            state: properties["State"]?.integer, connectivity: properties["Connectivity"]?.integer,
            metered: properties["Metered"]?.integer, primary: properties["PrimaryConnection"]?.text)
    }
}

extension NetworkView.NetworkdReport {
    init(_ properties: BusProperties) {
        self.init(
            onlineState: properties["OnlineState"]?.text,
            operationalState: properties["OperationalState"]?.text)
    }
}
