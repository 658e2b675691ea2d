#!/usr/bin/env bash
# The benchmarks are installed where their component is asked for, and only then; `saddle bench` finds them in the moved
# tree, and says what to do where they are not.
#
#     bench.sh BUILD_FOLDER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH

DESTDIR='' cmake --install "$1" --prefix "$work/first" >/dev/null
if compgen -G "$work/first/*/saddle-bench*"; then
    echo "they were not asked for"
    exit 1
fi
status=0
PATH=/usr/bin:/bin "$work/first/bin/saddle" bench --help 2>"$work/told" || status=$?
grep -- '--component bench' "$work/told"
((status == 2)) || { echo "status $status"; exit 1; }

DESTDIR='' cmake --install "$1" --prefix "$work/first" --component bench >/dev/null
mv "$work/first" "$work/moved"
"$work/moved/bin/saddle" gen lap2d 10 -q --out "$work/A.mtx"
"$work/moved/bin/saddle" bench spmv "$work/A.mtx" --repeat 1
[[ -x $work/moved/bin/saddle-bench-plot ]]
