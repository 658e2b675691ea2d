#!/usr/bin/env bash
# The public header compiles alone, without a warning that a strict user may have on, as C99, C11, C++11
# and C++17.
#
#     header.sh INCLUDE_FOLDER
set -euo pipefail
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wundef -Werror)
for standard in c99 c11; do
    echo '#include <saddle/saddle.h>' |
        cc -std=$standard "${strict[@]}" -Wstrict-prototypes -I"$1" -fsyntax-only -x c -
done
for standard in c++11 c++17; do
    echo '#include <saddle/saddle.h>' |
        c++ -std=$standard "${strict[@]}" -Wold-style-cast -I"$1" -fsyntax-only -x c++ -
done
