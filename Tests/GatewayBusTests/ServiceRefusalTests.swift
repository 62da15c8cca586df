import BandProfile
import BusTestSupport
import DBus
import GatewayModel
import Testing

@testable import GatewayBus

private let address = FakeGateway.address

/// What is refused, who may not, and what nobody answers.
@Suite(.timeLimit(.minutes(2))) struct ServiceRefusalTests {
    @Test func whatTheUploadCanNotDoIsRefused() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        for (member, arguments) in [
            ("UploadNow", [BusValue.properties(["Wait": .uint32(100_000)])]),
            ("UploadNow", [.properties(["Wait": .string("1m")])]),
            ("PauseUpload", [.properties(["Until": .uint32(5)])]),
            ("Reconcile", [.string(""), .properties(["Days": .uint32(0)])]),
            ("Reconcile", [.string(""), .properties(["DryRun": .string("yes")])]),
            ("Replace", [.strings([]), .properties([:])]),
            ("Replace", [.strings(["a"]), .properties(["All": .bool(true)])]),
            ("Replace", [.strings(["a", "b"]), .properties(["Address": .string("F0:F1:F2:F3:F4:F5")])]),
            ("Replace", [.strings(["a\u{7}"]), .properties([:])]),
            ("RetryUpload", [.string("a\u{1b}")]),
        ] {
            await #expect(throws: GatewayBusFailure.self) {
                _ = try await setup.client.call(member, arguments, deadline: .seconds(20))
            }
        }
        #expect(gateway.asked.isEmpty)
        await setup.stop()
    }

    // Not in the attribute: too much to infer for Swift 6.0.3.
    static let badArguments: [(String, [BusValue])] = [
        ("Scan", [.uint32(0)]), ("Scan", [.uint32(301)]), ("Forget", [.string("nobody")]),
        ("Sync", [.string("x"), .properties([:])]),
        ("Sync", [.string(""), .properties(["NoAck": .string("yes")])]),
        ("Sync", [.string(""), .properties(["Fast": .bool(true)])]),
        ("Adopt", [.string("x"), .properties([:])]),
        ("AddPerson", [.string(""), .properties([:])]), ("AddPerson", [.string(" Anna"), .properties([:])]),
        ("AddPerson", [.string("Anna\n"), .properties([:])]),
        ("AddPerson", [.string("Anna"), .properties(["ID": .string("a/b")])]),
        ("AddPerson", [.string("Anna"), .properties(["ShareName": .string("yes")])]),
        ("AddPerson", [.string("Anna"), .properties(["Colour": .string("red")])]),
        ("SetZone", [.string(""), .string("UTC"), .int64(0)]),
        ("SetZone", [.string("Anna"), .string("UTC"), .int64(-1)]),
        ("RemoveZone", [.string("Anna"), .int64(253_402_300_800_000)]),
        ("Assign", [.string("a\u{7}"), .string("Anna"), .int64(0), .properties([:])]),
        ("Assign", [.string("b"), .string(""), .int64(0), .properties([:])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(.min), .properties([:])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(0), .properties(["To": .int64(.max)])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(0), .properties(["To": .string("now")])]),
        ("Assign", [.string("b"), .string("Anna"), .int64(0), .properties(["Until": .int64(1)])]),
        ("Unassign", [.string(""), .int64(0)]), ("RemovePerson", [.string("")]),
        ("Unassign", [.string(" b"), .int64(0)]), ("Unassign", [.string("b"), .int64(.max)]),
    ]

    @Test(arguments: badArguments)
    func badArgumentsAreRefused(_ member: String, _ arguments: [BusValue]) async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        let raw = try await BusConnection.open(.address(setup.bus.address))
        do throws(BusError) {
            _ = try await raw.call(
                "org.bandferry", path: "/org/bandferry", interface: "org.bandferry.Gateway1", member,
                arguments,
                deadline: .seconds(20))
            Issue.record("accepted")
        } catch {
            #expect(error.name == "org.bandferry.Error.InvalidArguments")
        }
        #expect(gateway.asked.isEmpty)
        await setup.stop()
    }

    @Test(arguments: CommandFailure.Code.allCases) func aFailureArrivesAsItWas(_ code: CommandFailure.Code)
        async throws
    {
        let failure = CommandFailure(code, "remove line 7")
        let setup = try await Connected.open(FakeGateway(failure: failure))
        do {
            try await setup.client.forget(address)
            Issue.record("no failure")
        } catch {
            #expect(error == .command(failure))
        }
        await setup.stop()
    }

    @Test func tooManyCommandsAtOnceAreRefused() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        let outcomes = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask { (try? await setup.client.sync(address, noAck: true)) != nil }
            }
            await eventually { gateway.asked.count >= 16 }
            // Four are refused while sixteen wait; then each of these is let go.
            var refused = 0
            for _ in 0..<4 { if await group.next() == false { refused += 1 } }
            #expect(refused == 4)
            for _ in 0..<40 { gateway.held.continuation.yield() }
            gateway.held.continuation.finish()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(outcomes.count == 16 && outcomes.allSatisfy { $0 })
        await setup.stop()
    }

    @Test func withoutAPolicyTheNameIsNotTakenAndTheFileIsNamed() async throws {
        let bus = try PrivateBus(deny: "<deny own=\"org.bandferry\"/>")
        let service = try await GatewayBusService.open(
            .address(bus.address), commands: FakeGateway(), status: status([]))
        #expect(
            await service.takeName()
                == .notPermitted(policyFile: "/usr/share/dbus-1/system.d/org.bandferry.conf"))
        #expect(await failure(of: bus) == .notRunning)
        // It goes on: publishing to nobody is no error.
        await service.publish(status([band(address)]))
        bus.stop()
    }

    @Test func aSecondDaemonDoesNotTakeTheName() async throws {
        let setup = try await Connected.open(FakeGateway())
        let second = try await GatewayBusService.open(
            .address(setup.bus.address), commands: FakeGateway(), status: status([]))
        #expect(await second.takeName() == .taken)
        await setup.stop()
    }

    @Test func aUserWithoutPermissionIsTold() async throws {
        let bus = try PrivateBus(deny: "<deny send_destination=\"org.bandferry\"/>")
        let service = try await GatewayBusService.open(
            .address(bus.address), commands: FakeGateway(), status: status([]))
        #expect(await service.takeName() == .owned)
        let client = try await GatewayBusClient.connect(.address(bus.address))
        do {
            _ = try await client.status()
            Issue.record("was let in")
        } catch {
            #expect(error == .notPermitted)
        }
        bus.stop()
    }

    @Test func withoutADaemonOrABusTheClientSaysSo() async throws {
        let bus = try PrivateBus()
        #expect(await failure(of: bus) == .notRunning)
        let gone = bus.address
        bus.stop()
        do {
            _ = try await GatewayBusClient.connect(.address(gone))
            Issue.record("connected to nothing")
        } catch {
            guard case .noBus = error else {
                Issue.record("\(error)")
                return
            }
        }
    }

    @Test func aDaemonThatDiesFailsTheCall() async throws {
        let gateway = FakeGateway()
        let setup = try await Connected.open(gateway)
        async let outcome = result(setup.client)
        await eventually { !gateway.asked.isEmpty }
        await setup.service.close()
        guard case .broken = await outcome else {
            Issue.record("the call did not fail")
            return
        }
        await setup.stop()
    }

    private func result(_ client: GatewayBusClient) async -> GatewayBusFailure? {
        do {
            _ = try await client.sync(address, noAck: true)
            return nil
        } catch {
            return error
        }
    }

    private func failure(of bus: PrivateBus) async -> GatewayBusFailure? {
        do {
            _ = try await GatewayBusClient.connect(.address(bus.address))
            return nil
        } catch {
            return error
        }
    }
}
