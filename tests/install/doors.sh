#!/usr/bin/env bash
# The doors by the names that hosts look for, from the folders that users are told to name (docs/ipopt.md, docs/spral.md),
# in a tree that was installed by components and moved: nothing but LD_LIBRARY_PATH says where it is.
#
#     doors.sh BUILD_FOLDER
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH

DESTDIR='' cmake --install "$1" --prefix "$work/first" >/dev/null
for door in saddle_hsl saddle_spral; do
    DESTDIR='' cmake --install "$1" --prefix "$work/first" --component $door >/dev/null
done
mv "$work/first" "$work/moved"
libdir=$(dirname "$(find "$work/moved" -name pkgconfig)")

cat >"$work/open.c" <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(int count, char **words)
{
    void *const library = count == 3 ? dlopen(words[1], RTLD_NOW) : NULL;
    if (library && dlsym(library, words[2])) return 0;
    fprintf(stderr, "%s\n", dlerror());
    return 1;
}
END
cc "$work/open.c" -o "$work/open" -ldl

open() { # FOLDER LIBRARY SYMBOL
    echo "$2 in ${1#"$libdir"/}"
    LD_LIBRARY_PATH=$1 "$work/open" "$2" "$3"
}
open "$libdir/saddle/ipopt" libhsl.so ma97_analyse_d
open "$libdir/saddle/ipopt" libhsl.so ma27ad_
open "$libdir/saddle/spral" libspral.so spral_ssids_analyse
echo "by their paths"
"$work/open" "$libdir/libsaddle_hsl.so" ma97_analyse_d
"$work/open" "$libdir/libsaddle_spral.so" spral_ssids_analyse
