#!/usr/bin/env bash
# The shared library exports what the header declares, and nothing else.
#
#     exports.sh LIBRARY HEADER
set -euo pipefail

# Sanitizers and clang's OpenMP add names of their own, which begin with two underscores or a point.
exported=$(nm -D --defined-only "$1" | awk '{ print $3 }' | grep -v '^__\|^\.' | sort -u)
declared=$(tr '\n' ' ' <"$2" | grep -oE 'SADDLE_API [^;(]*\(' | grep -oE 'saddle_[a-z_0-9]+\($' | tr -d '(' | sort -u)

if ! diff <(echo "$declared") <(echo "$exported"); then
    echo "lines with < are declared in $2 and not exported by $1; lines with > the other way round"
    exit 1
fi
echo "$(wc -l <<<"$exported") names"
