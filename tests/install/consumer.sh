#!/usr/bin/env bash
# Installs Saddle, moves the tree elsewhere, and builds and runs a program against it in the ways that users
# have: find_package and pkg-config, each with the shared and with the static library. The C of README.md must
# do what it says, and the installed program must run from there too.
#
#     consumer.sh BUILD_FOLDER
set -euo pipefail
here=$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset LD_LIBRARY_PATH

DESTDIR='' cmake --install "$1" --prefix "$work/first" >/dev/null
mv "$work/first" "$work/moved"
prefix=$work/moved
config=$(find "$prefix" -name saddleConfig.cmake)
libdir=$(dirname "$(find "$prefix" -name pkgconfig)")

for static in OFF ON; do
    echo "find_package, static $static:"
    cmake -S "$here/consumer" -B "$work/build$static" -DCONSUMER_STATIC=$static -Dsaddle_DIR="$(dirname "$config")" \
        >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cmake --build "$work/build$static" >"$work/log" || { cat "$work/log"; exit 1; }
    "$work/build$static/consumer"
done

if [[ -d /usr/include/eigen3 ]]; then
    echo "find_package, COMPONENTS eigen:"
    cmake -S "$here/eigen" -B "$work/eigen" -Dsaddle_DIR="$(dirname "$config")" >"$work/log" 2>&1 || { cat "$work/log"; exit 1; }
    cmake --build "$work/eigen" >"$work/log" || { cat "$work/log"; exit 1; }
    "$work/eigen/consumer"
    echo "... where the header is not installed:"
    cp -r "$prefix" "$work/without"
    rm "$work/without/include/saddle/eigen.hpp"
    without=$work/without${config#"$prefix"}
    if cmake -S "$here/eigen" -B "$work/eigen_without" -Dsaddle_DIR="$(dirname "$without")" >"$work/log" 2>&1; then exit 1; fi
    tr -s ' \n' ' ' <"$work/log" | grep -o "COMPONENTS eigen needs Eigen 3.3 .*component saddle_eigen"
fi

echo "pkg-config:"
export PKG_CONFIG_PATH=$libdir/pkgconfig
read -ra flags <<<"$(pkg-config --cflags --libs saddle)"
cc -std=c11 -Wall -Wextra -Werror "$here/consumer/consumer.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/consumer"
"$work/consumer"

echo "pkg-config --static, where only the static library is installed:"
cp -r "$prefix" "$work/static"
rm "$work/static${libdir#"$prefix"}"/libsaddle.so*
read -ra static_flags <<<"$(PKG_CONFIG_PATH=$work/static${libdir#"$prefix"}/pkgconfig pkg-config --static --cflags --libs saddle)"
cc -std=c11 -Wall -Wextra -Werror "$here/consumer/consumer.c" "${static_flags[@]}" -o "$work/consumer_static"
"$work/consumer_static"

echo "pkg-config --static beside the shared library, as README.md has it:"
# shellcheck disable=SC2016
grep -qF '`pkg-config --static --libs saddle | sed s/-lsaddle/-l:libsaddle.a/`' "$here/../../README.md"
read -ra static_flags <<<"$(pkg-config --static --cflags --libs saddle | sed s/-lsaddle/-l:libsaddle.a/)"
cc -std=c11 -Wall -Wextra -Werror "$here/consumer/consumer.c" "${static_flags[@]}" -o "$work/consumer_beside"
"$work/consumer_beside"

for program in "$work/buildON/consumer" "$work/consumer_static" "$work/consumer_beside"; do
    if readelf -d "$program" | grep libsaddle; then
        echo "$program was to be linked with the static library"
        exit 1
    fi
done

echo "README.md:"
# shellcheck disable=SC2016
sed -n '/^```c$/,/^```$/p' "$here/../../README.md" | sed '1d;$d' >"$work/first.c"
cc -std=c11 -Wall -Wextra -Werror "$work/first.c" "${flags[@]}" -Wl,-rpath,"$libdir" -o "$work/first"
"$work/first" | grep 'x = (1, 1)'

echo "the version of the header and of the package:"
pkg-config --modversion saddle
"$work/consumer" | grep -F "saddle $(pkg-config --modversion saddle):"

echo "the program:"
"$prefix/bin/saddle" --version

for file in include/saddle/saddle.h share/doc/saddle/LICENSE share/man/man1/saddle.1 \
    share/bash-completion/completions/saddle share/zsh/site-functions/_saddle; do
    [[ -s $prefix/$file ]] || { echo "$file is not installed"; exit 1; }
done
readelf -d "$libdir/libsaddle.so" | grep -q 'SONAME.*\[libsaddle\.so\.0\]' || { echo "wrong SONAME"; exit 1; }
if grep -rIl "$work/first\|$1" "$prefix"; then
    echo "these files name the folder where Saddle was built or first installed"
    exit 1
fi
