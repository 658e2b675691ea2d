#!/usr/bin/env bats
# saddle convert: there and back through every format, storage, what it refuses.
load helper

entries() {
    grep -v '^%' "$1"
}

@test "round trips keep every entry" {
    for family in lap2d ipm stokes2d darcy2d; do
        "$SADDLE" gen "$family" 12 --out A.mtx
        for middle in B.rb B.rb.gz B.mtx B.mtx.gz; do
            "$SADDLE" convert A.mtx "$middle"
            "$SADDLE" convert "$middle" C.mtx
            cmp <(entries A.mtx) <(entries C.mtx)
        done
    done
}

@test "a pipe: standard input and output" {
    "$SADDLE" gen kktz 6 --out A.mtx
    "$SADDLE" convert A.mtx B.rb
    "$SADDLE" convert - - <B.rb >C.mtx
    cmp <(entries A.mtx) <(entries C.mtx)
}

@test "general and back to symmetric" {
    "$SADDLE" gen lap2d 4 --out A.mtx
    "$SADDLE" convert A.mtx B.mtx --general
    head -n 1 B.mtx | grep -q general
    [ "$(entries B.mtx | head -n 1)" = "16 16 64" ]
    "$SADDLE" convert B.mtx C.mtx
    cmp <(entries A.mtx) <(entries C.mtx)
    "$SADDLE" convert B.mtx D.mtx --symmetric
    cmp C.mtx D.mtx
}

@test "duplicates are added up, entries sorted" {
    printf '%s\n' '%%MatrixMarket matrix coordinate real general' '2 2 4' '2 2 1' '1 1 4' '2 1 7' '2 2 0.5' >A.mtx
    "$SADDLE" convert A.mtx B.mtx
    [ "$(entries B.mtx)" = "2 2 3
1 1 4
2 1 7
2 2 1.5" ]
}

@test "an unsymmetric matrix cannot be stored as symmetric" {
    printf '%s\n' '%%MatrixMarket matrix coordinate real general' '2 2 3' '1 1 4' '2 1 7' '2 2 1' >A.mtx
    run -3 --separate-stderr "$SADDLE" convert A.mtx B.mtx --symmetric
    [[ "$stderr" == *"A.mtx"*"not symmetric"*"row"* ]]
    [ ! -e B.mtx ]
    [ "$(find . -type f | wc -l)" -eq 1 ]
}

@test "bad input leaves an old output as it was" {
    "$SADDLE" gen lap2d 5 --out A.mtx
    head -n 20 A.mtx >short.mtx
    echo old >B.mtx
    run -3 --separate-stderr "$SADDLE" convert short.mtx B.mtx
    [[ "$stderr" == *"short.mtx"* ]]
    [ "$(cat B.mtx)" = old ]
    [ "$(find . -type f | wc -l)" -eq 3 ]
}

@test "onto itself" {
    "$SADDLE" gen lap2d 5 --out A.mtx
    cp A.mtx B.mtx
    "$SADDLE" convert B.mtx B.mtx
    cmp <(entries A.mtx) <(entries B.mtx)
}

@test "wrong usage is status 2" {
    "$SADDLE" gen lap2d 2 --out A.mtx
    run -2 --separate-stderr "$SADDLE" convert A.mtx
    run -2 --separate-stderr "$SADDLE" convert A.mtx B.mtx --symmetric --general
    [[ "$stderr" == *"mutually exclusive"* ]]
    [ ! -e B.mtx ]
}

@test "a file that cannot be written is status 3" {
    "$SADDLE" gen lap2d 2 --out A.mtx
    run -3 --separate-stderr "$SADDLE" convert A.mtx no/such/B.mtx
    [[ "$stderr" == *"no/such/B.mtx"* ]]
}

@test "-v tells what was written" {
    "$SADDLE" gen lap2d 2 --out A.mtx
    run -0 --separate-stderr "$SADDLE" convert A.mtx B.mtx -v
    [[ "$stderr" == *"4 x 4, 8 entries stored, symmetric"* ]]
}
