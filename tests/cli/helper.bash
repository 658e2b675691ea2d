# What all tests of the program share. SADDLE_BIN names the program (default: build/bin/saddle).
bats_require_minimum_version 1.5.0

export SADDLE=${SADDLE_BIN:-$BATS_TEST_DIRNAME/../../build/bin/saddle}
DATA=$BATS_TEST_DIRNAME/../data
PEERS=${SADDLE%/*}/peers # drivers of other libraries
MATRICES=$(realpath -m "${SADDLE_MATRICES:-$BATS_TEST_DIRNAME/../../../shared/matrices}") # real ones, if there are any

# Nothing of the user's environment or of the machine's size decides a test: two threads wherever --threads does
# not say another number, points in numbers (awk has the user's commas), a terminal with colours.
setup() {
    mkdir "$BATS_TEST_TMPDIR/work" && cd "$BATS_TEST_TMPDIR/work" || return 1
    unset SADDLE_LOG NO_COLOR SADDLE_CUDA_MODULE SADDLE_CUDA_MEMORY SADDLE_MATRICES SADDLE_SYMILDL OMP_THREAD_LIMIT OMP_DYNAMIC OMP_SCHEDULE OMP_PROC_BIND \
        OMP_PLACES GOMP_CPU_AFFINITY OPENBLAS_NUM_THREADS LANGUAGE CDPATH
    export TERM=xterm SHELL=/bin/sh LC_ALL=C OMP_NUM_THREADS=2
    umask 022
}

# The interpreter itself, which CMake has found: where python3 is a script that looks for it, as with pyenv, the
# hundreds of times add up.
python3() { command "${SADDLE_PYTHON:-python3}" "$@"; }

# fake_program FILE LINE...: a program in a folder, of lines of a shell script.
fake_program() {
    mkdir -p "${1%/*}"
    printf '%s\n' '#!/bin/sh' "${@:2}" > "$1"
    chmod +x "$1"
}

# interrupt WHEN SIGNAL COMMAND...: ends a command when it has come to a point; interrupt.py says which there are.
interrupt() { python3 "$BATS_TEST_DIRNAME/interrupt.py" "$@"; }

# is_interrupted ARGUMENT...: saddle is ended by a signal when what it runs has written its number to pid, and says so.
is_interrupted() {
    local program status=0
    "$SADDLE" "$@" 3>&- &
    program=$!
    until [ -s pid ]; do
        kill -0 $program || return 1
        sleep 0.01
    done
    kill -TERM $program
    wait $program || status=$?
    [ $status = 130 ]
}

# ends_its_driver ARGUMENT...: saddle, interrupted while its driver runs, ends that too.
ends_its_driver() {
    is_interrupted "$@"
    run -1 kill -0 "$(cat pid)"
}

# laplacian N SHIFT: the 5-point Laplacian on an N x N grid, minus SHIFT on the diagonal.
laplacian() {
    awk -v n="$1" -v p="$2" 'BEGIN {
        print "%%MatrixMarket matrix coordinate real symmetric"
        print n * n, n * n, n * n + 2 * n * (n - 1)
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
            k = i * n + j + 1
            print k, k, 4 - p
            if (j + 1 < n) print k + 1, k, -1
            if (i + 1 < n) print k + n, k, -1
        }
    }'
}

# matrix HEADER LINE...: a file of these lines, to standard output.
matrix() {
    printf '%%%%MatrixMarket matrix %s\n' "$1"
    shift
    printf '%s\n' "$@"
}

# A system that the method diagonal solves in one step.
diagonal() {
    matrix "coordinate real symmetric" "4 4 4" "1 1 1" "2 2 -2" "3 3 4" "4 4 -8"
}

# The same with norms that are powers of two: without rounding, so the same bits everywhere.
exact() {
    matrix "coordinate real symmetric" "4 4 4" "1 1 2" "2 2 -2" "3 3 2" "4 4 -2"
}

# narrow COLUMNS: no line of standard input is wider, but for those of times, which are as long as the machine is slow.
narrow() {
    awk -v most="$1" '!/^time / && length > most { print; bad = 1 } END { exit bad || !NR }'
}

is_json() {
    python3 -c 'import json, sys; json.load(open(sys.argv[1]), parse_constant=lambda c: sys.exit(c))' "$1"
}

# json FILE EXPRESSION: a Python expression over the object j, which must be true; in it all() of nothing is false.
json() {
    python3 -c 'import json, sys
def all(values):
    values = list(values)
    return values != [] and False not in map(bool, values)
j = json.load(open(sys.argv[1]))
sys.exit(not eval(sys.argv[2]))' "$1" "$2" ||
        { echo "not true of $1: $2"; cat "$1"; return 1; }
}

# For tests that look at what a terminal gets.
needs_terminal() {
    script -qec true /dev/null >/dev/null 2>&1 || skip "no pseudo-terminal can be made here"
}
