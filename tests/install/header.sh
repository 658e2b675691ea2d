#!/usr/bin/env bash
# The public header compiles alone, without a warning that a strict user may have on, as C99 to C17 and as C++11 to
# C++20, with gcc and, where it is there, clang: by itself, and in a program that makes its structs in the ways
# that the header shows. And it says of every function what may be called at once.
#
#     header.sh INCLUDE_FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
strict=(-Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wcast-qual -Wundef -Werror -fsyntax-only)
compile() { # COMPILER STANDARD [FLAG ...]
    echo '#include <saddle/saddle.h>' | "$1" -std="$2" "${strict[@]}" "${@:3}" -I"$include" -
    "$1" -std="$2" "${strict[@]}" "${@:3}" -I"$include" "$here/header.c"
}
include=$1
for standard in c99 c11 c17; do
    compile cc $standard -x c -Wstrict-prototypes -Wmissing-prototypes -Wc++-compat
    if command -v clang >/dev/null; then compile clang $standard -x c -Wstrict-prototypes; fi
done
for standard in c++11 c++17 c++20; do
    compile c++ $standard -x c++ -Wold-style-cast -Wzero-as-null-pointer-constant
    if command -v clang++ >/dev/null; then compile clang++ $standard -x c++ -Wold-style-cast; fi
done

table=$(sed -n '/What may be called from several threads/,/\*\//p' "$include/saddle/saddle.h")
declared=$(tr '\n' ' ' <"$include/saddle/saddle.h" | grep -oE 'SADDLE_API [^;(]*\(' | grep -oE 'saddle_[a-z_0-9]+\($' | tr -d '(')
for name in $declared; do
    short=${name#saddle_}
    grep -qw -e "${short%_sized}" <<<"$table" || { echo "$name: the header does not say whether it may be called at once"; exit 1; }
done
