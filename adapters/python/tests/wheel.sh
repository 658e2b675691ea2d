#!/usr/bin/env bash
# Builds a wheel of a library that is there already, installs it in an environment of its own and looks at it: what is
# inside, that nothing but the C library is taken from the system, that it works. Skipped (77) where scikit-build-core
# is not installed and PyPI cannot be reached.
#
#     tests/wheel.sh PYTHON PREBUILT     PREBUILT: a folder with lib/libsaddle.so.0 and bin/saddle
set -euo pipefail
python=$1 prebuilt=$2
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../../.." && pwd)
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The environments see NumPy and SciPy of the system.
"$python" -m venv --system-site-packages "$work/build"
if ! "$work/build/bin/python" -c "import scikit_build_core" 2>/dev/null &&
    ! "$work/build/bin/pip" -q --retries 0 --timeout 15 install scikit-build-core >"$work/log" 2>&1; then
    echo "skipped: scikit-build-core is not installed, and PyPI cannot be reached"
    exit 77
fi
"$work/build/bin/pip" -q --disable-pip-version-check wheel --no-deps --no-build-isolation -w "$work/wheels" \
    --config-settings=cmake.source-dir=adapters/python/prebuilt \
    --config-settings=cmake.define.SADDLE_PREBUILT="$prebuilt" "$root"

wheel=$(ls "$work"/wheels/saddle-*-py3-none-linux_*.whl)
bytes=$(stat -c %s "$wheel")
echo "$(basename "$wheel"): $bytes bytes"
((bytes < 25000000))
"$python" -m zipfile -l "$wheel" >"$work/list"
for file in lib/libsaddle.so.0 lib/libmetis lib/libamd lib/libopenblas bin/saddle py.typed licences/LICENSE \
    licences/third-party.md; do
    grep -q "saddle/$file" "$work/list" || { echo "there is no $file in the wheel" && exit 1; }
done
if grep cuda "$work/list"; then exit 1; fi

"$python" -m venv --system-site-packages "$work/use"
"$work/use/bin/pip" -q --disable-pip-version-check install --no-index --no-deps "$wheel"
cd "$work"
clean=(env -i "PATH=$PATH" "HOME=$work")
"${clean[@]}" "$work/use/bin/python" - <<'CHECK'
import pathlib
import numpy as np
import saddle
inside = pathlib.Path(saddle.__file__).parent
f = saddle.factor(np.array([[4.0, 0.0, 1.0], [0.0, 3.0, 1.0], [1.0, 1.0, 0.0]]))
assert f.inertia == (2, 1, 0, True), f.inertia
assert saddle._library.path == str(inside / "lib" / "libsaddle.so.0"), saddle._library.path
# what NumPy does not have, and may not have brought in
own = ("libsaddle", "libmetis", "libamd", "libsuitesparse")
loaded = {pathlib.Path(line.split()[-1]) for line in open("/proc/self/maps") if ".so" in line}
for path in loaded:
    assert not path.name.startswith(own) or inside in path.parents, path
CHECK
"${clean[@]}" "$work/use/bin/python" -m saddle --version
"${clean[@]}" "$work/use/bin/saddle" --version >/dev/null
# The dynamic linker's own word on what the library takes from the system.
inside=$("${clean[@]}" "$work/use/bin/python" -c "import saddle; print(saddle.__path__[0])")
for file in "$inside/lib/libsaddle.so.0" "$inside/bin/saddle"; do
    if "${clean[@]}" ldd "$file" | grep -vE "$inside/(bin/\.\./)?lib/|linux-vdso|ld-linux|lib(c|m|dl|rt|pthread|gcc_s)\.so"; then
        echo "$file takes this from the system"
        exit 1
    fi
done
echo "ok"
