#!/usr/bin/env bash
# A program that was compiled for SPRAL runs on Saddle by its library's name alone.
#
#     drop_in.sh SOURCE_FOLDER LIBRARY_FOLDER [COMPILER]    LIBRARY_FOLDER has libspral.so
#
# Linked with our libspral.so; linked with another one, a stand-in for SPRAL's, and run with ours; in C++.
set -euo pipefail
source=$1 folder=$2 cc=${3:-cc}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
count=0
cd "$work"

check() { # NAME COMMAND ...: it prints the solution twice
    local name=$1
    shift
    count=$((count + 1))
    if "$@" >out 2>&1 && [[ $(grep -c '^solution: 1.0000000000e+00 2.0000000000e+00 3.0000000000e+00 4.0000000000e+00 5.0000000000e+00$' out) == 2 ]]; then
        echo "ok $count - $name"
    else
        sed 's/^/# /' out
        echo "not ok $count - $name"
    fi
}

echo 1..3
"$cc" -std=c99 -Wall -Werror -I"$source/include" "$source/tests/example.c" -o ours -L"$folder" -lspral
readelf -d ours | grep -q 'NEEDED.*\[libspral.so\]'
check "linked with our libspral.so" env LD_LIBRARY_PATH="$folder" ./ours

for name in default_options analyse analyse_topology factor solve1 enquire_indef; do
    echo "void spral_ssids_$name(void); void spral_ssids_$name(void) {}"
done >stand_in.c
echo "int spral_ssids_free(void); int spral_ssids_free(void) { return 1; }" >>stand_in.c
mkdir other
"$cc" -shared -fPIC -Wl,-soname,libspral.so stand_in.c -o other/libspral.so
"$cc" -std=c99 -I"$source/include" "$source/tests/example.c" -o theirs -Lother -lspral
if LD_LIBRARY_PATH=other ./theirs >/dev/null; then
    echo "# the stand-in solves something"
    exit 1
fi
check "linked with another libspral.so, run with ours" env LD_LIBRARY_PATH="$folder" ./theirs

"${CXX:-c++}" -x c++ -Wall -Werror -I"$source/include" "$source/tests/example.c" -o cpp -L"$folder" -lspral
check "as C++" env LD_LIBRARY_PATH="$folder" ./cpp
