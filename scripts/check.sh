#!/bin/bash
# What `make check` runs: everything that needs no test to run. Each line is one check; all of them run.
# The last line is "check: N passed, M failed, K skipped".
set -uo pipefail

cd "$(dirname "$0")/.."
swift=$(scripts/find-swift.sh) || exit 1
scratch=${SCRATCH:-.build}
passed=0 failed=0 skipped=0

check() {
    local name=$1 output status
    shift
    output=$("$@" 2>&1)
    status=$?
    if [ "$status" = 0 ]; then
        echo "passed: $name"
        passed=$((passed + 1))
    elif [ "$status" = 77 ]; then
        echo "skipped: $name: $output"
        skipped=$((skipped + 1))
    else
        echo "$output" | tail -100
        echo "FAILED: $name"
        failed=$((failed + 1))
    fi
}

shell_files() { git ls-files | while read -r file; do head -c 40 "$file" | grep -qE '^#! ?/(usr/)?bin/(env )?(ba)?sh' && echo "$file"; done; }

shell_syntax() {
    local file status=0
    for file in $(shell_files); do bash -n "$file" || status=1; done
    return "$status"
}

python_syntax() {
    git ls-files '*.py' | python3 -c '
import ast, sys
for path in sys.stdin.read().split():
    ast.parse(open(path).read(), path)'
}

policy_file() {
    python3 -c '
import sys, xml.dom.minidom
policy = xml.dom.minidom.parse("dbus-policy/org.bandferry.conf").documentElement
sys.exit(policy.tagName != "busconfig" or not policy.getElementsByTagName("allow"))'
}

# A placeholder or a trap on outside input is a defect.
leftovers() {
    ! git grep -nE '\btry!|fatalError\(|\bTODO\b|\bFIXME\b' -- 'Sources/*.swift'
}

build() {
    # shellcheck disable=SC2086
    "$swift" build --build-tests --scratch-path "$scratch" ${SWIFTFLAGS:-} -Xswiftc -warnings-as-errors
}

check "format" "$swift" format lint --strict --recursive --parallel Package.swift Sources Tests
check "layers" scripts/check-imports.py
check "layers: planted violations are caught" scripts/check-imports.py --self-test
check "shell syntax" shell_syntax
check "python syntax" python_syntax
check "systemd units" scripts/check-units.py
check "systemd units: each missing line is caught" scripts/check-units.py --self-test
check "bus policy" policy_file
check "kinds of trouble and their tests" scripts/check-field.py
check "kinds of trouble: planted violations are caught" scripts/check-field.py --self-test
check "no leftovers" leftovers
check "counting of test results" scripts/part.sh --self-test
check "warnings are errors" build

echo "check: $passed passed, $failed failed, $skipped skipped"
[ "$failed" = 0 ]
