#!/usr/bin/env bats
# Ctrl-C and SIGTERM stop cleanly and say where it was.
load helper

# An iteration that cannot end before the signal comes: no residual is below 0.
long_solve() { # signal, further options
    local signal=$1
    shift
    laplacian 250 1 > A.mtx
    run --separate-stderr timeout --preserve-status -s "$signal" 3 \
        "$SADDLE" solve A.mtx --krylov minres --method none --tol 0 --maxiter 1000000000 "$@"
}

# LeakSanitizer stops every thread with ptrace when the program ends, and can wait for ever where a signal comes
# just then. Leaks of a cancelled run are looked for in the unit tests.
export ASAN_OPTIONS=${ASAN_OPTIONS:+$ASAN_OPTIONS:}detect_leaks=0

@test "Ctrl-C gives 130, valid JSON, and the best x" {
    long_solve INT --json j.json --out x.mtx
    [ "$status" -eq 130 ]
    [[ $stderr == *"interrupted in solve, iteration "* ]]
    [[ ${lines[-1]} == "NOT solved: interrupted in solve"* ]]
    json j.json 'j["status"] == 130 and j["reason"] == "cancelled" and j["iterations"] > 0'
    [ "$(grep -vc '^%' x.mtx)" -eq 62501 ]
    [[ $output == *"the best found, not a solution, is written to x.mtx"* ]]
    [ "$(echo *)" = "A.mtx j.json x.mtx" ]
}

@test "SIGTERM is like Ctrl-C" {
    long_solve TERM -q --json -
    [ "$status" -eq 130 ]
    printf '%s\n' "$output" > j.json
    json j.json 'j["reason"] == "cancelled"'
}

@test "a signal that comes twice at once, to the process and to its group, is one" {
    laplacian 250 1 > A.mtx
    run --separate-stderr python3 - "$SADDLE" <<'PY'
import signal, subprocess, sys, time
options = "solve A.mtx -q --krylov minres --method none --tol 0 --maxiter 1000000000 --json j.json".split()
child = subprocess.Popen([sys.argv[1]] + options)
time.sleep(2)
for _ in range(20): child.send_signal(signal.SIGTERM)
sys.exit(child.wait())
PY
    [ "$status" -eq 130 ]
    json j.json 'j["reason"] == "cancelled"'
}

@test "a second Ctrl-C kills at once" {
    mkfifo pipe
    run --separate-stderr python3 - "$SADDLE" <<'PY'
import os, signal, subprocess, sys, time
# The JSON goes to a pipe that is full: the first signal ends the work, the second the waiting.
reader, writer = os.pipe()
os.set_blocking(writer, False)
try:
    while True: os.write(writer, b"x" * 4096)
except BlockingIOError: pass
os.set_blocking(writer, True)
child = subprocess.Popen([sys.argv[1], "solve", "-", "-q", "--json", "-"], stdin=os.open("pipe", os.O_RDWR),
                         stdout=writer)
time.sleep(1)
child.send_signal(signal.SIGINT)
time.sleep(1)
assert child.poll() is None, child.poll()
child.send_signal(signal.SIGINT)
assert child.wait(timeout=10) == -signal.SIGINT, child.returncode
PY
    [ "$status" -eq 0 ] || { echo "$stderr"; false; }
}

@test "interrupted while waiting for input: 130, and x was not written" {
    mkfifo pipe
    sleep 20 > pipe &
    sleeper=$!
    run --separate-stderr timeout --preserve-status -s INT 1 "$SADDLE" solve - --json j.json --out x.mtx < pipe
    kill $sleeper
    [ "$status" -eq 130 ]
    [[ $stderr == *"interrupted"* && $stderr == *"x was not written"* ]]
    [ ! -e x.mtx ]
    json j.json 'j["status"] == 130 and j["reason"] == "cancelled"'
}

@test "a long run without a terminal tells where it is, in plain lines" {
    laplacian 250 1 > A.mtx
    run --separate-stderr timeout --preserve-status -s INT 8 \
        "$SADDLE" solve A.mtx --krylov minres --method none --tol 0 --maxiter 1000000000
    [[ $stderr == *"saddle: in solve, iteration "*" s)"* ]]
    [[ $stderr != *$'\r'* && $stderr != *$'\033'* ]]
}

@test "a bar on a terminal, cleared in the end, and none with -q" {
    needs_terminal
    command -v script > /dev/null || skip "script is not installed"
    laplacian 250 1 > A.mtx
    script -qec "timeout -s INT 2 '$SADDLE' solve A.mtx --krylov minres --method none --tol 0 --maxiter 1000000000" \
        /dev/null > screen || true
    grep -q 'solve   \[' screen
    grep -q $'\r\033\[K' screen
    script -qec "timeout -s INT 2 '$SADDLE' solve A.mtx --krylov minres --method none --tol 0 --maxiter 1000000000 -q" \
        /dev/null > screen || true
    run ! grep -q 'solve   \[' screen
}

@test "SIGTERM while info and convert wait for a pipe gives 130, not a file that cannot be opened" {
    mkfifo pipe.mtx
    run --separate-stderr timeout -k 30 --preserve-status -s TERM 1 "$SADDLE" info pipe.mtx
    [ "$status" -eq 130 ]
    [[ $stderr == "saddle: interrupted"* ]]
    run --separate-stderr timeout -k 30 --preserve-status -s TERM 1 "$SADDLE" convert pipe.mtx B.mtx
    [ "$status" -eq 130 ]
    [[ $stderr == "saddle: interrupted; nothing was written" ]]
    [ ! -e B.mtx ]
}

@test "a signal just before the wait for a pipe ends it too" {
    mkfifo pipe.mtx
    for delay in 0.02 0.05 0.1 0.2; do
        run timeout -k 20 30 timeout --preserve-status -s TERM $delay "$SADDLE" info pipe.mtx
        # 143: the program had not begun to listen
        [ "$status" -eq 130 ] || [ "$status" -eq 143 ]
    done
}
