#!/bin/sh
# Builds the power-cut VFS as a library for LD_PRELOAD: build.sh OUT.so
set -eu
out=${1:?usage: build.sh OUT.so}
here=$(cd "$(dirname "$0")" && pwd)
${CC:-cc} -std=gnu11 -O2 -g -Wall -Wextra -Werror -fPIC -shared -pthread -DPOWERCUT_PRELOAD -I"$here/include" \
    -o "$out" "$here/powercut.c" -lsqlite3
