import GatewayConfiguration
import Testing

@Suite struct MetricsSectionTests {
    private func listener(_ value: String) throws(ConfigurationErrors) -> MetricsListener? {
        try Configuration.read(
            [
                ConfigurationLine(section: "metrics", key: "", value: "", number: 1),
                ConfigurationLine(section: "metrics", key: "listen", value: value, number: 2),
            ], file: "f"
        ).configuration.metrics
    }

    @Test func thisHostAloneIsTaken() throws {
        #expect(Configuration().metrics == nil)
        let taken: [(String, MetricsListener)] = [
            ("unix:/run/bandferry/metrics", .socket(path: "/run/bandferry/metrics")),
            ("127.0.0.1:9464", .loopback(host: "127.0.0.1", port: 9464)),
            ("localhost:1", .loopback(host: "127.0.0.1", port: 1)),
            ("[::1]:65535", .loopback(host: "::1", port: 65535)),
        ]
        for (text, expected) in taken {
            let read = try listener(text)
            #expect(read == expected, "\(text)")
        }
    }

    @Test(arguments: [
        ("0.0.0.0:9464", "others than this host"), ("192.168.1.2:9464", "others than this host"),
        ("[::]:9464", "others than this host"), ("127.0.0.1.example.org:9464", "others than this host"),
        ("127.0.0.1", "no port"), ("9464", "no port"), ("127.0.0.1:", "no port"), ("127.0.0.1:0", "no port"),
        ("127.0.0.1:65536", "no port"), ("127.0.0.1:+80", "no port"), ("unix:metrics", "path"),
        ("unix:", "path"),
    ])
    func anythingElseIsRefusedWithAnExample(_ text: String, _ why: String) {
        #expect {
            _ = try listener(text)
        } throws: { error in
            "\(error)".contains(why) && "\(error)".contains("f:2: listen: ")
        }
    }
}
