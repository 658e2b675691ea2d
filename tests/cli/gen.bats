#!/usr/bin/env bats
# saddle gen: every family, the same matrix again, what it refuses, files that are whole or not there.
load helper

families() {
    "$SADDLE" gen --help | sed -n '/^Families:/,/^Options:/s/^  \([a-z][a-z0-9]*\) .*/\1/p'
}

@test "the help lists every family, and each can be made at a small size" {
    [ "$(families | wc -l)" -eq 15 ]
    for family in $(families); do
        "$SADDLE" gen "$family" 4 >A.mtx
        [ "$(head -n 1 A.mtx)" = "%%MatrixMarket matrix coordinate real symmetric" ]
        grep -q "^% saddle gen $family 4 .*--seed 1\$" A.mtx
        "$SADDLE" info -q A.mtx
    done
}

@test "completion offers the same families as the help" {
    [ "$(families | wc -l)" -eq 15 ]
    for family in $(families); do
        "$SADDLE" manual bash | grep -qw "$family"
    done
}

@test "a small Laplacian, entry by entry" {
    "$SADDLE" gen lap2d 2 --param 0.5 --out A.mtx
    run -0 grep -v '^%' A.mtx
    [ "$output" = "4 4 8
1 1 3.5
2 1 -1
3 1 -1
2 2 3.5
4 2 -1
3 3 3.5
4 3 -1
4 4 3.5" ]
}

@test "the comment makes the same file again" {
    "$SADDLE" gen darcy2d 6 --param 2.5 --seed 17 --out A.mtx
    command=$(sed -n '2s/^% saddle //p' A.mtx)
    [ "$command" = "gen darcy2d 6 --param 2.5 --seed 17" ]
    # shellcheck disable=SC2086
    "$SADDLE" $command >B.mtx
    cmp A.mtx B.mtx
    "$SADDLE" gen darcy2d 6 --param 2.5 --seed 18 >C.mtx
    run -1 cmp -s A.mtx C.mtx
}

@test "stored zero blocks: Stokes has no diagonal for its pressures" {
    "$SADDLE" gen stokes2d 10 | "$SADDLE" info - --json facts.json -q
    [ "$(jq .matrix.rows facts.json)" -eq 279 ]
    [ "$(jq .diagonal.missing facts.json)" -eq 99 ]
    [ "$(jq -r .matrix.kind facts.json)" = indefinite ]
}

@test "optimal and predictive control: stages of states and inputs, regularised or not" {
    "$SADDLE" gen ocp 7 --states 3 --inputs 2 --param 0 --out A.mtx
    grep -q '^% saddle gen ocp 7 --states 3 --inputs 2 --param 0 --seed 1$' A.mtx
    "$SADDLE" info A.mtx --json facts.json -q
    [ "$(jq .matrix.rows facts.json)" -eq 56 ]
    [ "$(jq .diagonal.missing facts.json)" -eq 21 ]
    "$SADDLE" gen ocp 7 | "$SADDLE" solve - --method direct --json solved.json -q
    [ "$(jq -c '[.inertia.positive, .inertia.negative, .inertia.certain]' solved.json)" = "[42,28,true]" ]
    "$SADDLE" gen mpc 5 --states 2 --inputs 1 | "$SADDLE" solve - --method direct --json solved.json -q
    [ "$(jq -c '[.inertia.positive, .inertia.negative, .inertia.certain]' solved.json)" = "[25,20,true]" ]
    run -2 --separate-stderr "$SADDLE" gen ocp 7 --states 2 --inputs 3
    [[ "$stderr" == *"inputs in 1..states"* ]]
    run -2 --separate-stderr "$SADDLE" gen lap2d 7 --states 2
    [[ "$stderr" == *"lap2d has no stages"* ]]
}

@test "output by name: gzipped, Rutherford-Boeing" {
    "$SADDLE" gen kktz 5 --out A.mtx
    "$SADDLE" gen kktz 5 --out A.mtx.gz
    gzip -dc A.mtx.gz | cmp - A.mtx
    "$SADDLE" gen kktz 5 --out A.rb
    "$SADDLE" convert A.rb B.mtx
    cmp <(grep -v '^%' A.mtx) <(grep -v '^%' B.mtx)
}

@test "wrong usage is status 2 and says what is right" {
    run -2 --separate-stderr "$SADDLE" gen lap4d 10
    [[ "$stderr" == *"did you mean lap"* ]]
    run -2 --separate-stderr "$SADDLE" gen lap2d ten
    [[ "$stderr" == *'"ten"'*"integer"* ]]
    run -2 --separate-stderr "$SADDLE" gen lap2d 0
    [[ "$stderr" == *"in 1..46340"* ]]
    run -2 --separate-stderr "$SADDLE" gen lap3d 99999999999999999999
    run -2 --separate-stderr "$SADDLE" gen lap3d 1291
    [[ "$stderr" == *"in 1..1290"* ]]
    run -2 --separate-stderr "$SADDLE" gen kktz 10 --param 1
    [[ "$stderr" == *"no parameter"* ]]
    run -2 --separate-stderr "$SADDLE" gen darcy2d 10 --param -1
    [[ "$stderr" == *"in 0..50"* ]]
    run -2 --separate-stderr "$SADDLE" gen darcy2d 10 --param nan
    run -2 --separate-stderr "$SADDLE" gen lap2d
    [ -z "$output" ]
}

@test "a file that cannot be written is status 3, and an old one stays" {
    run -3 --separate-stderr "$SADDLE" gen lap2d 5 --out no/such/A.mtx
    [[ "$stderr" == *"no/such/A.mtx"* ]]
    echo old >A.mtx
    run -2 "$SADDLE" gen lap2d 0 --out A.mtx
    [ "$(cat A.mtx)" = old ]
    [ "$(find . -type f | wc -l)" -eq 1 ]
}

@test "a full disk is status 3" {
    [ -w /dev/full ] || skip "there is no /dev/full"
    run -3 --separate-stderr bash -c '"$SADDLE" gen lap2d 100 >/dev/full'
    [ -n "$stderr" ]
}

@test "a reader that goes away ends it quietly" {
    run -0 --separate-stderr bash -c '"$SADDLE" gen lap2d 300 | head -n 1'
    [ -z "$stderr" ]
}

@test "-v tells the size, -q nothing" {
    run -0 --separate-stderr "$SADDLE" gen lap2d 5 -v --out A.mtx
    [[ "$stderr" == *"n 25, 65 entries"* ]]
    run -0 --separate-stderr "$SADDLE" gen lap2d 5 -q --out A.mtx
    [ -z "$output$stderr" ]
}

@test "interrupted, it leaves a whole file or none" {
    for delay in 0.02 0.2 0.5; do
        rm -f A.mtx*
        "$SADDLE" gen lap3d 60 --out A.mtx 3>&- &
        sleep "$delay"
        kill -TERM $! || true
        status=0
        wait $! || status=$?
        case $status in
        0) [ -e A.mtx ] ;;
        130 | 143) ;; # the file may have been whole already
        *) false ;;
        esac
        if [ -e A.mtx ]; then "$SADDLE" info -q A.mtx; fi
        [ "$(find . -name 'A.mtx?*' | wc -l)" -eq 0 ]
    done
}
