#!/usr/bin/env bash
# Builds a project that has Saddle as a part, by FetchContent, without optimisation and for one instruction set:
# its programs run, with either library; its variables, output folders, tests and installation are its own; and
# a warning that Saddle was not written for does not stop it, though the project's own warnings are errors.
#
#     subproject.sh SOURCE_FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

quietly() { "$@" >"$work/log" 2>&1 || { tail -n 50 "$work/log"; echo "failed: $*"; exit 1; }; }
expect() { diff <(printf '%s\n' "${@:2}") <(printf '%s\n' "$1") || { echo "expected the lines with <"; exit 1; }; }

quietly cmake -G Ninja -S "$here/subproject" -B "$work/build" -DSADDLE_SOURCE="$1" -DSADDLE_SIMD=OFF \
    -DCMAKE_INSTALL_PREFIX="$work/installed"
quietly cmake --build "$work/build"
grep -q 'Wconversion' "$work/log" || { echo "no warning was raised: this test shows nothing"; exit 1; }
expect "$(ls "$work/build/programs")" with_saddle with_saddle_static
"$work/build/programs/with_saddle"
"$work/build/programs/with_saddle_static"
if readelf -d "$work/build/programs/with_saddle_static" | grep libsaddle; then exit 1; fi
expect "$(ctest --test-dir "$work/build" -N | sed -n 's/.*Test *#.*: //p')" with_saddle with_saddle_static
quietly cmake --install "$work/build"
expect "$(cd "$work/installed" && find . -type f | sort)" ./bin/with_saddle ./bin/with_saddle_static
