/// The page that people look at: which files it is made of, and where they are.
public struct Dashboard: Sendable {
    /// What is served; nothing when there is no page.
    public var files = StaticFiles.none
    /// What an operator should know of it.
    public var notes: [DashboardNote] = []

    /// Where the command line says that the parts are. Nil = look for them.
    public struct Places: Equatable, Sendable {
        /// `none` = no page.
        public var directory: String?
        public var chartFile: String?

        public init(directory: String? = nil, chartFile: String? = nil) {
            self.directory = directory
            self.chartFile = chartFile
        }
    }

    /// Every file of the page, `index.html` first. Only these are read and served.
    static let names = [
        "index.html", "style.css", "icon.svg", "theme.js", "app.js", "api.js", "charts.js", "data.js",
        "dom.js",
        "figures.js", "format.js", "gaps.js", "nights.js", "plots.js", "session.js", "state.js", "time.js",
        "views/bands.js", "views/intraday.js", "views/parts.js", "views/signin.js", "views/today.js",
        "views/trends.js",
    ]

    /// Where Debian's libjs-chart.js puts Chart.js, and where node-chart.js does.
    public static let chartFiles = [
        "/usr/share/javascript/chart.js/chart.min.js", "/usr/share/javascript/chart.js/chart.js",
        "/usr/share/nodejs/chart.js/dist/chart.min.js",
    ]

    /// Stands in for Chart.js: the page finds no `Chart` and shows its figures as tables.
    private static let noCharts = Array("// Chart.js is not installed on this server.\n".utf8)

    private static let limit = 4 << 20

    /// Reads the files. Throws only for places that the command line names; what is merely not found is a note.
    ///
    /// `program` is the path of the running program, from which the page is looked for.
    public static func read(
        _ places: Places, program: String?, chartFiles: [String] = Self.chartFiles
    ) throws(FileFailure) -> Dashboard {
        var dashboard = Dashboard()
        guard places.directory != "none" else { return dashboard }
        let choices = places.directory.map { [$0] } ?? program.map(directories(program:)) ?? []
        guard
            let directory = choices.first(where: {
                places.directory != nil || FileBytes.exist("\($0)/index.html")
            })
        else {
            dashboard.notes = [.pageMissing(lookedIn: choices)]
            return dashboard
        }
        do {
            for name in names {
                let bytes = try FileBytes.read("\(directory)/\(name)", limit: limit)
                dashboard.files.add(
                    path: name == "index.html" ? "" : "dashboard/\(name)", contentType: contentType(name),
                    bytes: bytes)
            }
        } catch {
            guard places.directory == nil else { throw error }
            return Dashboard(notes: [.pageUnreadable(error)])
        }
        let charts = try readCharts(places, chartFiles)
        if charts == nil { dashboard.notes.append(.chartsMissing(lookedFor: chartFiles)) }
        dashboard.files.add(
            path: "dashboard/chart.js", contentType: contentType("chart.js"), bytes: charts ?? noCharts)
        return dashboard
    }

    private static func readCharts(_ places: Places, _ standard: [String]) throws(FileFailure) -> [UInt8]? {
        if let named = places.chartFile { return try FileBytes.read(named, limit: limit) }
        return standard.lazy.compactMap { try? FileBytes.read($0, limit: limit) }.first
    }

    /// `PREFIX/share/bandferry/dashboard` of an installed `PREFIX/bin/…`; `dashboard` of the checkout for a program in its
    /// `.build`. Nowhere else: a directory that anybody may write to must not lend the page its scripts.
    static func directories(program: String) -> [String] {
        let parts = program.split(separator: "/", omittingEmptySubsequences: false).dropLast()
        var found: [String] = []
        if parts.last == "bin" {
            found.append((parts.dropLast() + ["share", "bandferry", "dashboard"]).joined(separator: "/"))
        }
        if let build = parts.lastIndex(of: ".build") {
            found.append((parts[..<build] + ["dashboard"]).joined(separator: "/"))
        }
        return found
    }

    private static func contentType(_ name: String) -> String {
        switch name.split(separator: ".").last {
        case "html": "text/html; charset=utf-8"
        case "css": "text/css; charset=utf-8"
        case "js": "text/javascript; charset=utf-8"
        case "svg": "image/svg+xml"
        default: "application/octet-stream"
        }
    }
}

/// What is not as it should be with the page; the server serves all the same.
public enum DashboardNote: Equatable, Sendable, CustomStringConvertible {
    case pageMissing(lookedIn: [String])
    case pageUnreadable(FileFailure)
    case chartsMissing(lookedFor: [String])

    public var description: String {
        switch self {
        case .pageMissing(let places):
            "there is no dashboard"
                + (places.isEmpty ? "" : " in \(places.joined(separator: " or "))")
                + "; --dashboard DIR says where it is"
        case .pageUnreadable(let failure):
            "the dashboard is not served: \(failure)"
        case .chartsMissing(let places):
            "the dashboard shows tables and no charts: there is no \(places.joined(separator: " or ")); "
                + "install libjs-chart.js, or say where Chart.js is with --chart-js FILE"
        }
    }
}
