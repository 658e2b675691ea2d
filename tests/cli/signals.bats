#!/usr/bin/env bats
# Ctrl-C and SIGTERM stop cleanly and say where it was.
load helper

# endless: a matrix, A.mtx, whose iteration goes on for minutes: eigenvalues over twelve decades, of which
# MINRES takes one after the other, so that the residual falls like 1 / k^2, and no residual is below 0.
ENDLESS=(solve A.mtx --krylov minres --method none --tol 0 --maxiter 1000000000 --threads 1)
endless() {
    awk 'BEGIN { n = 200000; print "%%MatrixMarket matrix coordinate real symmetric"; print n, n, n
        for (i = 0; i < n; i++) print i + 1, i + 1, exp(-i / n * log(1e12)) }' > A.mtx
}

# LeakSanitizer stops every thread with ptrace when the program ends, and can wait for ever where a signal comes
# just then. Leaks of a cancelled run are looked for in the unit tests.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

@test "without a terminal a long run tells where it is; Ctrl-C gives 130, valid JSON, and the best x" {
    endless
    run -130 --separate-stderr interrupt "said:in solve, iteration " INT "$SADDLE" "${ENDLESS[@]}" --json j.json --out x.mtx
    [[ $stderr =~ "saddle: in solve, iteration "[0-9]+" of at most 1000000000, relative residual "[0-9.e+-]+" ("[0-9]+" s)" ]]
    [[ $stderr != *$'\r'* && $stderr != *$'\033'* ]]
    [[ $stderr == *"interrupted in solve, iteration "* ]]
    [[ ${lines[-1]} == "NOT solved: interrupted in solve"* ]]
    json j.json 'j["status"] == 130 and j["reason"] == "cancelled" and j["iterations"] > 0'
    [ "$(grep -vc '^%' x.mtx)" -eq 200001 ]
    [[ $output == *"the best found, not a solution; written to x.mtx"* ]]
    [ "$(echo *)" = "A.mtx j.json x.mtx" ]
}

@test "SIGTERM is like Ctrl-C" {
    endless
    run -130 --separate-stderr interrupt ready TERM "$SADDLE" "${ENDLESS[@]}" -q --json -
    printf '%s\n' "$output" > j.json
    json j.json 'j["reason"] == "cancelled"'
}

@test "a signal that comes twice at once, to the process and to its group, is one" {
    endless
    run -130 interrupt ready TERM,TERM "$SADDLE" "${ENDLESS[@]}" -q --json j.json
    json j.json 'j["reason"] == "cancelled"'
}

@test "a second Ctrl-C kills at once" {
    run --separate-stderr python3 - "$SADDLE" "$BATS_TEST_DIRNAME" <<'PY'
import os, signal, sys, time
sys.path.insert(0, sys.argv[2])
from interrupt import Child
# The JSON goes to a pipe that is full: the first signal ends the work, the second the waiting.
reader, writer = os.pipe()
os.set_blocking(writer, False)
try:
    while True: os.write(writer, b"x" * 4096)
except BlockingIOError: pass
os.set_blocking(writer, True)
empty, _ = os.pipe()
child = Child([sys.argv[1], "solve", "-", "-q", "--json", "-"], stdin=empty, stdout=writer)
child.wait_until(lambda: child.listens(signal.SIGINT))
child.send("INT")
time.sleep(0.5) # so that it is not the first one, come twice
assert child.process.poll() is None, child.process.poll()
child.send("INT")
assert child.end() == 128 + signal.SIGINT, child.process.returncode
PY
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
}

@test "interrupted while waiting for input: 130, and x was not written" {
    run -130 --separate-stderr interrupt input INT "$SADDLE" solve - --json j.json --out x.mtx
    [[ $stderr == *"interrupted"* && $stderr == *"x was not written"* ]]
    [ ! -e x.mtx ]
    json j.json 'j["status"] == 130 and j["reason"] == "cancelled"'
}

# on_gpu WORDS...: `saddle solve` on the emulated GPU, which never tells that a factorization is done.
on_gpu() {
    export SADDLE_CUDA_MODULE=${SADDLE%/*}/../lib/libsaddle_cuda_emulated.so SADDLE_EMULATED_LATE=1
    [ -e "$SADDLE_CUDA_MODULE" ] || skip "no emulated GPU was built"
    laplacian 12 1 > A.mtx
    run -130 --separate-stderr interrupt "$1" "$2" "$SADDLE" solve A.mtx --method direct --device cuda --threads 1 --json j.json \
        --out x.mtx "${@:3}"
    [ ! -e x.mtx ]
    json j.json 'j["status"] == 130 and j["reason"] == "cancelled" and j["device"] == "cuda"'
}

@test "Ctrl-C while a GPU factors gives 130, with -q and without a terminal too" {
    on_gpu "said:emulated: an event is late" INT
    [[ $stderr == *"saddle: interrupted in factor, at "*" %"*"x was not written"* ]]
    on_gpu "said:emulated: an event is late" INT -q
    [[ $stderr == *"saddle: interrupted in factor, at "* ]]
    on_gpu "said:emulated: an event is late" TERM -v
    [[ $stderr == *"saddle: interrupted in factor, at "* ]]
}

@test "on a terminal the bar moves while a GPU factors, and Ctrl-C ends it" {
    needs_terminal
    on_gpu "bar:factor  [########################] 100 %" INT
    [[ $stderr == *"interrupted in factor, at 100 %"* ]]
}

@test "a bar on a terminal, cleared in the end, and none with -q" {
    needs_terminal
    endless
    run -130 --separate-stderr interrupt "bar:solve   [" INT "$SADDLE" "${ENDLESS[@]}"
    [[ $stderr =~ "solve   ["[#.]+"] iteration "[0-9]+", residual " ]]
    [[ $stderr == *$'\r\033[K'* ]]
    # With -q nothing comes, of which there is no sign: a time in which a bar would have come long ago.
    run script -qec "timeout -s INT 2 '$SADDLE' ${ENDLESS[*]} -q" /dev/null
    [[ $output != *'solve   ['* ]]
}

@test "SIGTERM while info and convert wait for a pipe gives 130, not a file that cannot be opened" {
    mkfifo pipe.mtx
    run -130 --separate-stderr interrupt ready TERM "$SADDLE" info pipe.mtx
    [[ $stderr == "saddle: interrupted"* ]]
    run -130 --separate-stderr interrupt ready TERM "$SADDLE" convert pipe.mtx B.mtx
    [[ $stderr == "saddle: interrupted; nothing was written" ]]
    [ ! -e B.mtx ]
}

# The moment is not known: it is looked for around the time that the program takes to begin.
@test "a signal just before the wait for a pipe ends it too" {
    mkfifo pipe.mtx
    for delay in 0.02 0.05 0.1 0.2; do
        run timeout --preserve-status -s TERM $delay "$SADDLE" info pipe.mtx
        # 143: the program had not begun to listen
        [ "$status" -eq 130 ] || [ "$status" -eq 143 ]
    done
}
