import BandProfile
import BlueZModel
import Foundation
import GatewayModel
import IngestAPI
import Testing
import UploadDecisions

@testable import Conditions
@testable import Store

private let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
    .deletingLastPathComponent()

/// Every Swift file of the programs, by its path under Sources.
private func sources() throws -> [String: String] {
    let top = root.appending(path: "Sources").path
    var files: [String: String] = [:]
    for name in try FileManager.default.subpathsOfDirectory(atPath: top) where name.hasSuffix(".swift") {
        files[name] = try String(contentsOfFile: "\(top)/\(name)", encoding: .utf8)
    }
    return files
}

/// The words that follow each occurrence of `marker`.
private func words(after marker: String, in text: String) -> [String] {
    text.components(separatedBy: marker).dropFirst().map { rest in
        String(rest.prefix { $0.isLetter || $0.isNumber || $0 == "_" })
    }
}

@Suite struct ConditionTests {
    @Test func noCodeIsDeclaredTwiceAndEachHasOneSeverity() {
        var severities: [String: Condition.Severity] = [:]
        var seen: Set<String> = []
        for condition in ConditionTable.all {
            #expect(seen.insert("\(condition.code)/\(condition.variant)").inserted, "\(condition.code)")
            #expect(
                severities[condition.code] ?? condition.severity == condition.severity, "\(condition.code)")
            severities[condition.code] = condition.severity
            #expect(ConditionTable.severity(of: condition.code) == condition.severity)
        }
        #expect(ConditionTable.severity(of: "of_a_newer_version") == nil)
    }

    @Test func eachSaysWhatHappenedAndWhatToDo() {
        for condition in ConditionTable.all {
            #expect(!condition.text.isEmpty && !condition.fix.isEmpty, "\(condition.code)")
            #expect(
                condition.code.allSatisfy { $0.isLowercase || $0.isNumber || $0 == "_" }
                    && !condition.code.isEmpty,
                "\(condition.code)")
            #expect(!condition.text.contains("  ") && !condition.fix.contains("  "), "\(condition.code)")
        }
    }

    /// A row that stands in no list is in no document and has no severity on the bus.
    @Test func everyRowIsInTheTable() throws {
        let declared = try sources().filter { $0.key.hasPrefix("Conditions/") }.values.flatMap {
            words(after: "public static let ", in: $0).filter { $0 != "all" && $0 != "areas" }
        }
        #expect(declared.count > 80)
        #expect(Set(declared).count == declared.count)
        #expect(declared.count == ConditionTable.all.count)
    }

    @Test func everyRowIsUsedAndEveryProblemIsMadeOfARow() throws {
        let all = try sources()
        let programs = all.filter { !$0.key.hasPrefix("Conditions/") }
        let text = programs.values.joined(separator: "\n")
        let mentioned = Set(words(after: ".", in: text))
        for name in all.filter({ $0.key.hasPrefix("Conditions/Condition+") }).values.flatMap({
            words(after: "public static let ", in: $0)
        }) {
            #expect(mentioned.contains(name), "\(name) is declared and nobody uses it")
        }
        // Read back, they keep the code that they had.
        let readers: Set = [
            "GatewayModel/Problem.swift", "GatewayBus/StatusProperties.swift", "Store/BandTable.swift",
            "Store/UploadTable.swift",
        ]
        for (file, text) in programs where !readers.contains(file) {
            let squeezed = text.filter { !$0.isWhitespace }
            #expect(!squeezed.contains("Problem(code:"), "\(file) makes a problem that is in no table")
        }
    }

    @Test func aTextIsFilledInOnePass() {
        let condition = Condition("c", .notice, "{a} and {b}: {a}.", fix: "Do {c}.")
        #expect(condition.parameterNames == ["a", "b", "c"])
        #expect(condition.text(["a": "{b}", "b": "x"]) == "{b} and x: {b}.")
        #expect(condition.fix([:]) == "Do {c}.")
        #expect(condition.fix(["c": "it"]) == "Do it.")
    }

    // MARK: what makes problems gives all that varies

    @Test func noPlaceholderIsLeftOfABlueZFailure() {
        let kinds: [BlueZFailureKind] = [
            .transient, .notConnected, .inProgress, .heldByAnother, .notPermitted, .notPaired,
            .authentication,
            .keyMissing, .gone, .noService, .notReady, .blocked, .adapterFault, .tooManyLinks, .unsupported,
            .invalidCall, .alreadyDone, .deadline, .serviceGone, .busGone, .accessDenied, .cancelled,
            .unknown,
            .attributeError(5),
        ]
        for kind in kinds + (UInt8(0x80)...0x9f).map({ .applicationError($0) }) {
            let failure = BlueZFailure(kind: kind, during: .connect, name: "n", text: "why")
            let problem = Problem(failure.condition, failure.parameters)
            #expect(
                problem.text.hasPrefix("Could not connect: ") && problem.text.hasSuffix(" (BlueZ says: why).")
            )
            #expect(!(problem.text + problem.remedy).contains("{"), "\(problem)")
            #expect(problem.severity == failure.condition.severity)
        }
    }

    @Test func noPlaceholderIsLeftOfAnUploadProblem() {
        let dates = CertificateTimeProblem.Cause.allCases.map {
            UploadProblem.certificateTime(
                CertificateTimeProblem(cause: $0, certificate: nil, wall: APITime(milliseconds: 0)))
        }
        let problems: [UploadProblem] =
            NoAnswer.allCases.map { .noAnswer($0) } + dates + [
                .serverError(status: 500), .rateLimited, .notThisAPI(status: 302), .captivePortal,
                .inconsistentAnswer, .nothingConfirmed, .encodingRefused, .authenticationFailed, .forbidden,
                .serverRefuses(code: "malformed"), .reportRefused(code: "malformed"),
                .serverLacks(count: 400),
                .tokenFile(.unreadable("No such file")), .tokenFile(.readableByOthers),
                .tokenFile(.malformed),
                .outbox("full."),
            ]
        for problem in problems {
            #expect(!(problem.text + problem.remedy).contains("{"), "\(problem)")
            #expect(problem.text.hasSuffix("."), "\(problem.text)")
        }
    }

    @Test func noPlaceholderIsLeftOfAStoreError() {
        let kinds: [StoreError.Kind] = [
            .full, .lowSpace, .readOnly, .corrupt, .newerSchema, .io, .busy, .locked, .missing, .moved,
            .directory,
            .refused,
            .closed,
            .other,
        ]
        for kind in kinds {
            let error = StoreError(kind: kind, operation: "commit", path: "/p", message: "it failed")
            #expect(error.problem.code == "store_\(kind.rawValue)")
            #expect(error.problem.text == "commit: it failed.")
            #expect(error.problem.remedy == error.remedy && !error.remedy.contains("{"))
        }
        let special = StoreError(kind: .io, operation: "o", path: "/p", message: "m", remedy: "Just so.")
        #expect(special.problem.remedy == "Just so.")
    }

    @Test func noPlaceholderIsLeftOfARoomOrASalvage() {
        var report = SalvageReport()
        var problems = [report.problem]
        report.losses = [
            .init(device: DeviceID(BluetoothAddress(bits: 1)), ring: RingID(rawValue: 1), seqs: [1...7])
        ]
        report.keptAs = "/s/gateway.db.salvaged-1"
        problems.append(report.problem)
        report.damagedTables = ["conflicts"]
        problems.append(report.problem)
        for newest: UInt32 in [900, 4_000] {
            problems += [BandRoom(ackPoint: 0, newest: newest, capacity: 1_000).problem].compactMap { $0 }
        }
        #expect(
            problems.map(\.code) == [
                "store_salvaged", "store_salvaged", "store_salvaged", "band_waits_for_server",
                "band_waits_for_server",
            ])
        for problem in problems {
            #expect(!(problem.text + problem.remedy).contains("{"), "\(problem)")
            #expect(problem.severity == .warning)
        }
    }

    @Test func theGravestProblemIsTheWorst() {
        let problems = [
            Problem(.uploadPaused), Problem(.clockUnsynchronised), Problem(.storeFull), Problem(.forbidden),
        ]
        #expect(problems.worst?.code == "store_full")
        #expect([Problem]().worst == nil)
        #expect(Condition.Severity.allCases.sorted() == [.notice, .warning, .error])
    }

    // MARK: the document

    @Test func theDocumentIsCurrent() throws {
        let path = root.appending(path: "docs/conditions.md").path
        if ProcessInfo.processInfo.environment["BANDFERRY_WRITE_DOCS"] != nil {
            try ConditionDocument.text.write(toFile: path, atomically: true, encoding: .utf8)
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        #expect(
            text == ConditionDocument.text,
            "docs/conditions.md is old: BANDFERRY_WRITE_DOCS=1 swift test --filter ConditionTests")
    }
}
