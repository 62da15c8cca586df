import Compression
import HTTPServer
import IngestStore

/// Files that anybody may fetch, held in memory. What is not among them does not exist: no path reaches a disk.
public struct StaticFiles: Sendable {
    struct Variant: Sendable {
        var etag: String
        var bytes: [UInt8]
    }

    private struct File: Sendable {
        var contentType: String
        var plain: Variant
        /// Nil when it would not be smaller.
        var compressed: Variant?
    }

    /// By the segments of the path.
    private var files: [[String]: File] = [:]

    /// Answers nothing.
    public static let none = StaticFiles()

    mutating func add(path: String, contentType: String, bytes: [UInt8]) {
        let digest = SHA256.digest(bytes).prefix(16).map { byte in
            let text = String(byte, radix: 16)
            return byte < 16 ? "0" + text : text
        }.joined()
        let compressed = (try? Gzip.compress(bytes, level: 9)).flatMap {
            $0.count < bytes.count ? Variant(etag: "\"\(digest)-gzip\"", bytes: $0) : nil
        }
        files[path.split(separator: "/", omittingEmptySubsequences: false).map(String.init)] = File(
            contentType: contentType, plain: Variant(etag: "\"\(digest)\"", bytes: bytes),
            compressed: compressed)
    }

    /// Nil when it asks for none of the files, or for something else than reading.
    func response(to request: ServerRequest) -> ServerResponse? {
        guard request.method == "GET" || request.method == "HEAD" else { return nil }
        guard let file = files[request.path] else { return nil }
        let compressed = AcceptedEncodings(request.header("accept-encoding")).gzip ? file.compressed : nil
        let variant = compressed ?? file.plain
        var headers = Self.headers + [HTTPField("ETag", variant.etag)]
        if Self.isKnown(variant.etag, to: request) {
            return ServerResponse(status: 304, headers: headers)
        }
        headers.append(HTTPField("Content-Type", file.contentType))
        if compressed != nil { headers.append(HTTPField("Content-Encoding", "gzip")) }
        return ServerResponse(status: 200, headers: headers, body: variant.bytes)
    }

    /// RFC 9110, 13.1.2: the comparison is a weak one.
    private static func isKnown(_ etag: String, to request: ServerRequest) -> Bool {
        request.header("if-none-match").flatMap { $0.split(separator: ",") }.contains { part in
            let tag = part.drop { $0 == " " || $0 == "\t" }.prefix { $0 != " " && $0 != "\t" }
            return tag == "*" || tag == etag || tag == "W/" + etag
        }
    }

    /// The browser asks each time whether its copy is still good, and lets the page do only what it needs: its own
    /// scripts and styles, requests to this server alone, no frame around it and no markup made from text.
    private static let headers = [
        HTTPField("Cache-Control", "no-cache"), HTTPField("Vary", "Accept-Encoding"),
        HTTPField("X-Content-Type-Options", "nosniff"), HTTPField("Referrer-Policy", "no-referrer"),
        HTTPField(
            "Content-Security-Policy",
            "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
                + "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
                + "require-trusted-types-for 'script'; trusted-types 'none'"),
        HTTPField("Cross-Origin-Opener-Policy", "same-origin"),
        HTTPField("Cross-Origin-Embedder-Policy", "require-corp"),
        HTTPField("Cross-Origin-Resource-Policy", "same-origin"),
        HTTPField(
            "Permissions-Policy",
            "accelerometer=(), camera=(), display-capture=(), geolocation=(), gyroscope=(), "
                + "microphone=(), payment=(), publickey-credentials-get=(), screen-wake-lock=(), serial=(), usb=()"
        ),
    ]
}

/// What `Accept-Encoding` says of gzip. RFC 9110, 12.5.3.
struct AcceptedEncodings {
    var gzip = false

    init(_ values: [String]) {
        var anything: Bool?
        var named: Bool?
        for part in values.flatMap({ $0.split(separator: ",") }) {
            let fields = part.lowercased().filter { $0 != " " && $0 != "\t" }.split(separator: ";")
            guard let coding = fields.first else { continue }
            // A weight of 0, however it is written, is a no.
            let refused = fields.dropFirst().contains {
                $0.hasPrefix("q=") && Double($0.dropFirst(2)) ?? 0 <= 0
            }
            switch coding {
            case "gzip", "x-gzip": named = !refused
            case "*": anything = !refused
            default: break
            }
        }
        gzip = named ?? anything ?? false
    }
}
