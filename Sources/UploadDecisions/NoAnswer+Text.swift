extension NoAnswer {
    var text: String {
        switch self {
        case .cannotResolve: "The server's name could not be resolved."
        case .cannotConnect: "The server could not be reached."
        case .timedOut: "The server did not answer in time."
        case .connectionLost: "The connection to the server broke before the answer was whole."
        case .certificateTime: "The server's certificate is not valid at this machine's time."
        case .tls: "The server's certificate could not be verified."
        case .clientCertificate:
            "The gateway's own certificate can't be used, or the server does not take it."
        case .clientKeyUnusable:
            "The gateway's own key could not be read, or others can read it; it is not used."
        case .proxyCredentialsUnusable:
            "The file with the proxy's name and password could not be read, can be read by others, or does not hold one "
                + "line user:password; it is not used."
        case .proxyUnreachable: "The proxy could not be reached."
        case .proxyAuthentication: "The proxy does not accept the gateway's name and password."
        case .proxyRefused: "The proxy does not connect the gateway to the server."
        case .notHTTP: "What answers at the server's address does not speak HTTP."
        case .answerTooLarge: "The answer is longer than one of the ingest API's."
        case .unsendable: "The request to the server could not be made."
        case .aborted: "The upload was stopped."
        }
    }

    var remedy: String {
        switch self {
        case .cannotResolve, .cannotConnect, .timedOut, .connectionLost:
            "Check the network and the url of [upload]. Samples are kept and sent later."
        case .certificateTime:
            "Check this machine's clock first (timedatectl); then the server's certificate. Samples are kept."
        case .tls:
            "Check the url and ca_file of [upload], and whether the network wants a log-in page to be passed first. "
                + "Verification is never turned off. Samples are kept."
        case .clientCertificate:
            "Check client_certificate and client_key of [upload], and with who runs the server. Samples are kept."
        case .clientKeyUnusable:
            "Check client_key of [upload] and run chmod 600 on it, owned by the service's user; it is looked at again."
        case .proxyCredentialsUnusable:
            "Check proxy_credentials_file of [upload] and run chmod 600 on it, owned by the service's user; it is looked "
                + "at again."
        case .proxyUnreachable:
            "Check the proxy of [upload], and the network. Samples are kept and sent later."
        case .proxyAuthentication:
            "Check proxy_credentials_file of [upload]; it is read again when it changes. Samples are kept."
        case .proxyRefused:
            "Ask who runs the proxy of [upload] to let this host through to the server. Samples are kept."
        case .notHTTP, .answerTooLarge: "Check the url of [upload]."
        case .unsendable: "Check the url of [upload] and the free memory."
        case .aborted: "Nothing."
        }
    }
}
