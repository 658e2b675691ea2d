#!/usr/bin/env bash
# Who builds Saddle by himself decides: which BLAS is linked, by BLA_VENDOR or BLAS_LIBRARIES (OpenBLAS where he
# says nothing and it is there), whether a warning is an error (not unless he says so), and which parts are built.
# Nothing is compiled.
# Without a second BLAS on this machine there is no choice to be tested: exit status 77.
#
#     choices.sh SOURCE_FOLDER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset BLA_VENDOR

# configure NAME [ARGUMENT ...]: what libsaddle would be linked with stands in $work/NAME/build.ninja.
configure() {
    cmake -G Ninja -S "$1" -B "$work/$2" -DSADDLE_TESTS=OFF -DSADDLE_CUDA=OFF -DSADDLE_PEERS=OFF \
        -DSADDLE_ADAPTERS=OFF "${@:3}" \
        >"$work/log" 2>&1 || { cat "$work/log"; return 1; }
}
blas_of() { grep -oE '/lib[a-z]*blas[a-z]*\.(so|a)' "$work/$1/build.ninja" | sort -u | tr -d '\n'; }
expect() { [[ $(blas_of "$1") == "$2" ]] || { echo "$1: $(blas_of "$1") would be linked, not $2"; exit 1; }; }

configure "$1" silent
if grep -q -e -Werror "$work/silent/build.ninja"; then
    echo "a warning is an error for whoever builds Saddle"
    exit 1
fi
configure "$1" strict -DSADDLE_WERROR=ON
grep -q -e -Werror "$work/strict/build.ninja"

# Benchmarks and peers want nothing of the other parts: a target that is not there would be taken for a library.
configure "$1" parts -DSADDLE_PROGRAM=OFF -DSADDLE_EXAMPLES=OFF -DSADDLE_INSTALL=OFF -DSADDLE_PEERS=AUTO
if grep -oE -e ' -lsaddle\w*' "$work/parts/build.ninja"; then exit 1; fi

if ! configure "$1" generic -DBLA_VENDOR=Generic; then
    echo "skipped: there is no reference BLAS here"
    exit 77
fi
expect generic /libblas.so
library=$(sed -n 's/^BLAS_blas_LIBRARY:FILEPATH=//p' "$work/generic/CMakeCache.txt")
configure "$1" named -DBLAS_LIBRARIES="$library"
expect named /libblas.so
BLA_VENDOR=Generic configure "$1" environment
expect environment /libblas.so
if configure "$1" openblas -DBLA_VENDOR=OpenBLAS; then expect silent /libopenblas.so; fi
