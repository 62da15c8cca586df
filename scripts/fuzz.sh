#!/bin/bash
# Builds the parsers and the session with libFuzzer and the address sanitizer, and runs each for its share of time.
#
#   scripts/fuzz.sh [SECONDS_TOTAL] [TARGET...]     60 seconds and every target of Tests/fuzz, if none is named
#   SECONDS_EACH=600 scripts/fuzz.sh                so long for each instead
#   scripts/fuzz.sh replay TARGET FILE              runs one input again, to see where it breaks
#
# What was found before is kept in .build-fuzz/corpus and goes on from there. An input that breaks something is
# left in .build-fuzz/found. The last line is "N passed, M failed, K skipped".
set -uo pipefail

cd "$(dirname "$0")/.."
swift=$(scripts/find-swift.sh) || exit 1
out=$PWD/.build-fuzz
modules=$out/modules
mkdir -p "$modules" "$out/found"

declare -A fresh=()
linker=()
sanitize=(-sanitize=fuzzer,address)
common=(-O -g -wmo -swift-version 6 -enable-upcoming-feature ExistentialAny -parse-as-library -package-name bandferry
    -I "$modules"
    -I Sources/CDBus -I Sources/CZlib -I Sources/CINI -Xcc -ISources/CLinux/include)
for flag in $(pkg-config --cflags-only-I dbus-1); do common+=(-Xcc "$flag"); done

# gold says a line of each sanitizer's symbol.
[ ! -e "$(dirname "$(readlink -f "$swift")")/ld.lld" ] || linker=(-use-ld=lld)

module() {
    "$swift"c "${common[@]}" "${sanitize[@]}" -module-name "$1" -emit-module \
        -emit-module-path "$modules/$1.swiftmodule" -emit-object -o "$modules/$1.o" Sources/"$1"/*.swift
}

# Puts a module into `order`, after those that it imports. C libraries and the system's own need no compiling.
visit() {
    local name=$1 dependency
    [ -z "${seen[$name]:-}" ] || return 0
    seen[$name]=yes
    [ "$(find "Sources/$name" -maxdepth 1 -name '*.swift' -print -quit 2>/dev/null)" ] || return 0
    for dependency in $(imports Sources/"$name"/*.swift); do visit "$dependency"; done
    order+=("$name")
}

imports() { sed -nE 's/^(public |package |internal )?import ([A-Za-z]+).*/\2/p' "$@" | sort -u; }

# Compiles one target, and of its modules those that changed since the last time or import one that did.
build_target() {
    local name dependency objects=()
    local -A seen=()
    order=()
    for name in $(imports "Tests/fuzz/$1.swift"); do visit "$name"; done
    for name in "${order[@]}"; do
        objects+=("$modules/$name.o")
        [ -n "${fresh[$name]:-}" ] && continue
        local stale
        stale=$(find Sources/"$name" -newer "$modules/$name.o" -print -quit 2>/dev/null || true)
        [ -e "$modules/$name.o" ] || stale=yes
        for dependency in $(imports Sources/"$name"/*.swift); do
            [ "$modules/$dependency.swiftmodule" -nt "$modules/$name.o" ] && stale=yes
        done
        if [ -n "$stale" ]; then module "$name" || return 1; fi
        fresh[$name]=yes
    done
    "$swift"c "${common[@]}" "${sanitize[@]}" "${linker[@]}" -module-name "fuzz_$1" -o "$out/$1" \
        "Tests/fuzz/$1.swift" Tests/fuzz/FuzzInput.swift "${objects[@]}"
}

# Runs one target; its log ends with libFuzzer's statistics.
fuzz() {
    local name=$1 seconds=$2
    mkdir -p "$out/corpus/$name"
    # An input that takes a minute or 1 GiB is a fault too. Swift's runtime keeps metadata for good: no leaks.
    timeout --kill-after=10 $((seconds + 120)) env ASAN_OPTIONS=detect_leaks=0:quarantine_size_mb=32 "$out/$name" \
        -max_total_time="$seconds" -timeout=60 -rss_limit_mb=1024 -max_len=4096 -print_final_stats=1 \
        -artifact_prefix="$out/found/$name-" "$out/corpus/$name" "$out/seeds/$name" >"$out/$name.log" 2>&1
}

# The sanitizer tells where it broke; Swift's own backtracer would wait for it to go on.
export SWIFT_BACKTRACE=enable=no

if [ "${1:-}" = replay ]; then
    build_target "$2" && ASAN_OPTIONS=detect_leaks=0 exec "$out/$2" "$3"
    exit 1
fi

total=${1:-60}
shift || true
targets=("$@")
if [ ${#targets[@]} = 0 ]; then
    for file in Tests/fuzz/*.swift; do
        name=$(basename "$file" .swift)
        [ "$name" = FuzzInput ] || targets+=("$name")
    done
fi

runtime=$(find "$(dirname "$(dirname "$(readlink -f "$swift")")")" -name 'libclang_rt.fuzzer*' -print -quit 2>/dev/null)
if [ -z "$runtime" ]; then
    echo "fuzz: this Swift toolchain has no libFuzzer; use one from swift.org"
    echo "0 passed, 0 failed, ${#targets[@]} skipped"
    exit 0
fi

rm -rf "$out/seeds"
Tests/fuzz/seeds.py "$out/seeds" || exit 1
passed=0 failed=0
workers=$(nproc)
each=${SECONDS_EACH:-$((total * workers / ${#targets[@]}))}
[ "$each" -ge 1 ] || each=1

report() {
    local name=$1 status=$2 runs
    runs=$(sed -n 's/^stat::number_of_executed_units: *//p' "$out/$name.log")
    if [ "$status" = 0 ] && [ "${runs:-0}" -gt 0 ]; then
        passed=$((passed + 1))
        echo "passed: $name: $runs executions in $each s, $(find "$out/corpus/$name" -type f | wc -l) inputs kept"
    else
        failed=$((failed + 1))
        tail -40 "$out/$name.log"
        echo "FAILED: $name: status $status; the input is in .build-fuzz/found: scripts/fuzz.sh replay $name FILE"
    fi
}

# As many at a time as there are processors.
declare -A running=()
next_ended() {
    local pid status
    wait -n -p pid "${!running[@]}"
    status=$?
    report "${running[$pid]}" "$status"
    unset "running[$pid]"
}
for name in "${targets[@]}"; do
    if ! build_target "$name"; then
        failed=$((failed + 1))
        echo "FAILED: $name: it does not compile"
        continue
    fi
    [ ${#running[@]} -lt "$workers" ] || next_ended
    fuzz "$name" "$each" &
    running[$!]=$name
done
while [ ${#running[@]} -gt 0 ]; do next_ended; done

echo "$passed passed, $failed failed, 0 skipped"
[ "$failed" = 0 ]
