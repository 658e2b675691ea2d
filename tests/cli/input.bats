#!/usr/bin/env bats
# Bad input: exit status 3, and a message that names the file and the line.
load helper

refused() { # text, then the file's lines; "line N" or another word of the message
    local text=$1
    shift
    printf '%s\n' "$@" > bad.mtx
    run -3 --separate-stderr "$SADDLE" solve bad.mtx --json j.json
    [ -z "$output" ]
    [[ $stderr == *bad.mtx* && $stderr == *"$text"* ]] || { echo "$stderr"; return 1; }
    is_json j.json
    json j.json 'j["status"] == 3 and "bad.mtx" in j["message"]'
}

BANNER="%%MatrixMarket matrix coordinate real"

@test "an empty file" {
    : > bad.mtx
    run -3 --separate-stderr "$SADDLE" solve bad.mtx
    [[ $stderr == *bad.mtx* ]]
}
@test "no banner" { refused "bad.mtx" "3 3 1" "1 1 1"; }
@test "an unknown format" { refused ":1" "%%MatrixMarket matrix circle real general" "1 1 1" "1 1 1"; }
@test "complex, by name" { refused "complex" "%%MatrixMarket matrix coordinate complex general" "1 1 1" "1 1 1 0"; }
@test "hermitian" { refused "complex" "%%MatrixMarket matrix coordinate complex hermitian" "1 1 1" "1 1 1 0"; }
@test "no sizes" { refused "bad.mtx" "$BANNER general"; }
@test "sizes that are none" { refused ":2" "$BANNER general" "3 x 1" "1 1 1"; }
@test "a negative size" { refused ":2" "$BANNER general" "-3 3 1" "1 1 1"; }
@test "a size beyond 32 bits" { refused ":2" "$BANNER general" "99999999999 99999999999 1" "1 1 1"; }
@test "truncated" { refused "bad.mtx" "$BANNER symmetric" "3 3 3" "1 1 1" "2 2 1"; }
@test "one entry too many" { refused ":4" "$BANNER symmetric" "3 3 1" "1 1 1" "2 2 1"; }
@test "a row out of range" { refused ":4" "$BANNER symmetric" "3 3 2" "1 1 1" "4 1 1"; }
@test "row zero" { refused ":3" "$BANNER symmetric" "3 3 1" "0 1 1"; }
@test "a value that is none" { refused ":4" "$BANNER symmetric" "3 3 2" "1 1 1" "2 1 abc"; }
@test "a missing value" { refused ":4" "$BANNER symmetric" "3 3 2" "1 1 1" "2 1"; }
@test "NaN" { refused "bad.mtx" "$BANNER symmetric" "2 2 2" "1 1 1" "2 2 nan"; }
@test "Inf" { refused "bad.mtx" "$BANNER symmetric" "2 2 2" "1 1 1" "2 2 inf"; }
@test "huge counts that are not there: refused at once, in little memory" {
    refused "bad.mtx" "$BANNER symmetric" "2000000000 2000000000 9000000000000" "1 1 1"
    python3 - "$SADDLE" <<'PY'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "solve", "bad.mtx", "-q"], stderr=subprocess.DEVNULL)
kilobytes = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
assert kilobytes < 500000, kilobytes
PY
}
@test "a gzipped file that is cut off" {
    laplacian 20 0 | gzip | head -c 500 > bad.mtx.gz
    run -3 --separate-stderr "$SADDLE" solve bad.mtx.gz
    [[ $stderr == *bad.mtx.gz* ]]
}
@test "a folder" {
    mkdir folder.mtx
    run -3 --separate-stderr "$SADDLE" solve folder.mtx
    [[ $stderr == *folder.mtx* ]]
}
@test "binary rubbish" {
    head -c 100000 /dev/zero | tr '\0' '\377' > bad.mtx
    run -3 --separate-stderr "$SADDLE" solve bad.mtx
    [[ $stderr == *bad.mtx* ]]
}
@test "no rows, but a column" { refused "bad.mtx" "$BANNER general" "0 1 0"; }
@test "a byte order mark before the banner is skipped" {
    { printf '\357\273\277' && diagonal; } > A.mtx
    run -0 --separate-stderr "$SADDLE" solve -q A.mtx
    [ -z "$stderr" ]
}
