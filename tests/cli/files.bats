#!/usr/bin/env bats
# Output files are there whole or not at all.
load helper

nothing_left() {
    shopt -s dotglob
    echo *
    [ "$(echo *)" = "$1" ]
}

@test "an output in a folder that is not there: told before the work, nothing left" {
    diagonal > A.mtx
    for option in out json plot; do
        file=nowhere/f.svg
        run -3 --separate-stderr "$SADDLE" solve A.mtx --method diagonal --$option $file
        [[ $stderr == *"nowhere/f.svg: cannot be written"* ]]
        [ -z "$output" ]
    done
    nothing_left A.mtx
}

@test "bad input leaves neither x nor a temporary file" {
    matrix "coordinate real symmetric" "3 3 2" "1 1 2" "2 x 3" > A.mtx
    run -3 "$SADDLE" solve A.mtx --out x.mtx --plot c.svg
    nothing_left A.mtx
}

@test "what was there stays when a run fails" {
    matrix "coordinate real symmetric" "3 3 2" "1 1 2" "2 x 3" > A.mtx
    echo before > x.mtx
    run -3 "$SADDLE" solve A.mtx --out x.mtx
    [ "$(cat x.mtx)" = before ]
}

@test "a full disk is an error" {
    [ -c /dev/full ] || skip "there is no /dev/full"
    diagonal > A.mtx
    run -3 --separate-stderr bash -c "'$SADDLE' solve A.mtx --method diagonal > /dev/full"
    [[ $stderr == *"standard output cannot be written"* ]]
    run -3 "$SADDLE" solve A.mtx --method diagonal -q --json /dev/full
    run -3 "$SADDLE" solve A.mtx --method diagonal -q --out /dev/full
    [ -c /dev/full ]
}

@test "a device is written, not replaced" {
    diagonal > A.mtx
    "$SADDLE" solve A.mtx --method diagonal -q --json /dev/null --out /dev/null
    [ -c /dev/null ]
}

@test "through a link the file is replaced, not the link" {
    diagonal > A.mtx
    echo before > real.json
    ln -s real.json link.json
    "$SADDLE" solve A.mtx --method diagonal -q --json link.json
    [ -L link.json ]
    is_json real.json
}

@test "an output has the permissions of any new file" {
    diagonal > A.mtx
    umask 027
    "$SADDLE" solve A.mtx --method diagonal -q --json j.json --out x.mtx
    [ "$(stat -c %a j.json)" = 640 ]
    [ "$(stat -c %a x.mtx)" = 640 ]
}

@test "a reader that goes away ends it quietly" {
    diagonal > A.mtx
    run bash -c "set -o pipefail; '$SADDLE' solve --help 2> err | true; cat err"
    [ -z "$output" ]
}

@test "a --json that cannot be written is told once" {
    diagonal > A.mtx
    run -3 --separate-stderr "$SADDLE" solve -q A.mtx --json none/j.json
    [ "$(grep -c 'none/j.json' <<< "$stderr")" -eq 1 ]
}
