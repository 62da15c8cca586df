#!/usr/bin/env python3
"""Fails when an import breaks the layers: programs > adapters > pure decisions > C wrappers, strictly downward.

    scripts/check-imports.py              checks Sources
    scripts/check-imports.py --self-test  shows that each rule catches a planted violation

The layers are those of Package.swift. A C library has exactly one importer, its wrapper. A wrapper imports no
target of ours but those over the system that all may use: CLinux, Locking, Threading, FileReading. A pure target
imports pure targets only, and of the system FoundationEssentials at most: no I/O. An adapter imports no program, a
program no other. Nothing imports the whole of Foundation.
"""
import pathlib
import re
import sys

TOP = pathlib.Path(__file__).resolve().parent.parent
SYSTEM = {"Swift", "Glibc", "Dispatch", "Synchronization", "FoundationEssentials", "_Concurrency"}
# Thin layers over the C library of the system, which every wrapper may use.
SHARED = {"CLinux", "Locking", "Threading", "FileReading"}
IMPORT = re.compile(
    r"^\s*(?:@\w+(?:\([^)]*\))?\s+)*(?:(?:public|package|internal|fileprivate|private)\s+)?import\s+"
    r"(?:(?:struct|class|enum|protocol|func|var|let|typealias)\s+)?(\w[\w-]*)"
)
LISTS = {"systemLibraries": "library", "wrappers": "wrapper", "decisions": "pure", "adapters": "adapter", "programs": "program"}


def layers_of(manifest):
    """Target name -> layer."""
    layers = {}
    for variable, layer in LISTS.items():
        body = re.search(r"^let %s: \[Target\] = \[\n(.*?)\n\]" % variable, manifest, re.S | re.M)
        if not body:
            sys.exit(f"check-imports: Package.swift has no list {variable}")
        for name in re.findall(r'(?:library|program|system|\.target)\(\s*(?:name: )?"([^"]+)"', body.group(1)):
            layers[name.replace("-", "_")] = layer
    return layers


def imports_of(path):
    for number, line in enumerate(path.read_text().splitlines(), 1):
        for statement in line.split(";"):
            match = IMPORT.match(statement)
            if match:
                yield number, match.group(1)


def complaint(target, layer, name, layers):
    """Why `target` may not import `name`; None when it may."""
    if name in ("Foundation", "FoundationNetworking", "FoundationXML", "FoundationInternationalization"):
        return f"{target} imports {name}: use FoundationEssentials (memory, start-up)"
    imported = layers.get(name)
    if imported is None and name not in SYSTEM:
        return f"{target} imports {name}, which is neither ours nor one of the system's modules that we use"
    if layer is None:
        return f"{target} is in no layer of Package.swift"
    if imported == "library" and layer != "wrapper":
        return f"{target} imports the C library {name}: only its wrapper may"
    if layer == "wrapper" and imported not in (None, "library") and name not in SHARED:
        return f"the wrapper {target} imports {name}: a wrapper stands on its C library alone"
    if layer == "pure" and imported != "pure" and name not in ("Swift", "FoundationEssentials"):
        return f"{target} decides and parses without I/O, but imports {name}"
    if imported == "program":
        return f"{target} imports the program {name}"
    return None


def check(sources, layers):
    """All violations, as `file:line: why`."""
    violations, importers = [], {}
    for path, text in sorted(sources.items()):
        target = path.split("/")[0].replace("-", "_")
        for number, name in text:
            if name == target:
                continue
            why = complaint(target, layers.get(target), name, layers)
            if why:
                violations.append(f"Sources/{path}:{number}: {why}")
            if layers.get(name) == "library":
                importers.setdefault(name, set()).add(target)
    for name, targets in sorted(importers.items()):
        if len(targets) > 1:
            violations.append(f"{name} has {len(targets)} importers: {', '.join(sorted(targets))}")
    return violations


def self_test(sources, layers):
    plants = [
        ("HistorySync", "import CSQLite", "only its wrapper may"),
        ("HistorySync", "import Glibc", "without I/O"),
        ("HistorySync", "import Dispatch", "without I/O"),
        ("HistorySync", "import Store", "without I/O"),
        ("GatewayConfiguration", "import INIFile", "without I/O"),
        ("SQLite", "import CZlib", "importers"),
        ("SQLite", "import GatewayModel", "stands on its C library alone"),
        ("SQLite", "import Compression", "stands on its C library alone"),
        ("Store", "import bandferryd", "imports the program"),
        ("Store", "@preconcurrency import CSQLite", "only its wrapper may"),
        ("Store", "import struct Foundation.Data", "FoundationEssentials"),
        ("bandferry", "import bandsim", "imports the program"),
        ("Gateway", "import Logging", "neither ours"),
        ("Elsewhere", "import GatewayModel", "no layer"),
        ("HistorySync", "let a = 1; import Store", "without I/O"),
    ]
    missed = 0
    for target, line, expected in plants:
        names = [(1, match.group(1)) for match in map(IMPORT.match, line.split(";")) if match]
        planted = dict(sources, **{f"{target}/Planted.swift": names})
        found = [violation for violation in check(planted, layers) if expected in violation]
        if not any("Planted.swift" in violation or "importers" in violation for violation in found):
            print(f"check-imports: '{line}' in {target} was not caught", file=sys.stderr)
            missed += 1
    return missed


def main():
    layers = layers_of((TOP / "Package.swift").read_text())
    root = TOP / "Sources"
    sources = {str(path.relative_to(root)): list(imports_of(path)) for path in root.rglob("*.swift")}
    if sys.argv[1:] == ["--self-test"]:
        sys.exit(1 if self_test(sources, layers) else 0)
    violations = check(sources, layers)
    for violation in violations:
        print(violation)
    if violations:
        sys.exit(f"check-imports: {len(violations)} violations")


main()
