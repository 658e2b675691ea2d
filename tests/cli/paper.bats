#!/usr/bin/env bats
# saddle solve --paper, the settings of the first paper, and the option relax, which nothing else sets.
load helper

SAID=(--fill none --blocking grid --block-size 32 --order rcm --pairs off --scaling mc64 --small-pivot 0.1
    --krylov gmres --restart 25 --maxiter 100)
SWEPT=(--sweeps 8 --sweep-order block --relax 0.95 --fallback none)

setup_file() {
    export KKT=$BATS_FILE_TMPDIR/kkt.mtx STOKES=$BATS_FILE_TMPDIR/stokes.mtx
    "$SADDLE" gen kktz 12 --out "$KKT" -q
    "$SADDLE" gen stokes2d 12 --out "$STOKES" -q
}

# run_to NAME MATRIX OPTION...: the entries of x into the file NAME, and NAME.json, whether the tolerance was reached
# or not; solved: it must be.
run_to() {
    local status=0
    rm -f x.mtx
    "$SADDLE" solve "$2" -q --threads 1 --out x.mtx --json "$1.json" "${@:3}" || status=$?
    [ $status -le 1 ] || return 2
    grep -v '^%' x.mtx > "$1"
}
solved() {
    run_to "$@"
    json "$1.json" 'j["converged"]'
}

@test "--paper is what was published, by sweeps and exactly: the same as the options one by one" {
    for matrix in "$KKT" "$STOKES"; do
        solved paper "$matrix" --paper
        json paper.json 'j["method"] == "jacobi" and j["krylov"] == "gmres" and j["factor"]["block_size"] == 32'
        json paper.json 'j["factor"]["fill_tau"] is None and j["factor"]["sweeps"] == 8 and not j["factor"]["fallback"]'
        solved one-by-one "$matrix" --method jacobi "${SAID[@]}" "${SWEPT[@]}"
        cmp paper one-by-one
        solved exact "$matrix" --paper --method ldlt
        json exact.json 'j["method"] == "ldlt" and j["krylov"] == "gmres" and j["factor"]["sweeps"] is None'
        solved one-by-one "$matrix" --method ldlt "${SAID[@]}"
        cmp exact one-by-one
        run ! cmp -s paper exact
    done
}

# Each of these is part of the settings, or --paper and --paper with another value would be the same on both matrices.
@test "what is named beside --paper wins, and every setting counts" {
    for matrix in "$KKT" "$STOKES"; do solved "$(basename "$matrix" .mtx)" "$matrix" --paper; done
    for change in "--fill level:1" "--blocking clusters" "--block-size 24" "--order natural" "--pairs on" "--scaling none" \
        "--small-pivot 0.2" "--krylov fgmres" "--sweeps 9" "--sweep-order row" "--relax 1"; do
        # shellcheck disable=SC2086 # an option and its value
        run_to other "$KKT" --paper $change
        # shellcheck disable=SC2086
        run_to another "$STOKES" --paper $change
        ! cmp -s other kkt || run ! cmp -s another stokes
    done
    solved slow "$KKT" --paper --relax 0.5
    solved other "$KKT" --paper --relax 0.5 --restart 100
    run ! cmp -s slow other
    run -1 "$SADDLE" solve "$KKT" --paper -q --sweeps 3 --json j.json
    json j.json 'j["iterations"] == 100'
    run -1 "$SADDLE" solve "$KKT" --paper -q --maxiter 7 --json j.json
    json j.json 'j["iterations"] == 7'
}

# Sweeps of whole blocks that diverge: left to themselves by --paper, made good by the default.
@test "--paper takes no exact schedule where its sweeps diverge" {
    laplacian 30 3.3 > A.mtx
    run "$SADDLE" solve A.mtx --paper -q --sweeps 2 --json j.json
    json j.json 'not j["factor"]["fallback"] and j["factor"]["sweeps"] == 2'
    run "$SADDLE" solve A.mtx --paper -q --sweeps 2 --fallback exact --json j.json
    json j.json 'j["factor"]["fallback"]'
}

@test "--paper is for the block methods alone, and told in help, manual and completion" {
    run -2 --separate-stderr "$SADDLE" solve "$KKT" --paper --method direct
    [[ $stderr == *"--paper applies to ldlt and jacobi"* ]]
    run -2 "$SADDLE" solve "$KKT" --paper --condition
    "$SADDLE" solve --help | grep -q -- --paper
    "$SADDLE" manual bash | grep -q -- --paper
    "$SADDLE" manual man | grep -q 'paper'
}

# A diagonal entry of this size, beside entries of 1, in sweeps with small_pivot 0.1.
moved() { # value, sweeps, relax
    matrix "coordinate real symmetric" "4 4 6" "1 1 1" "2 1 0.1" "2 2 1" "3 3 $1" "4 4 1" "4 3 0.001" > A.mtx
    "$SADDLE" solve A.mtx -q --method jacobi --fill none --blocking grid --block-size 2 --order natural --pairs off \
        --scaling none --small-pivot 0.1 --sweep-order block --fallback none --sweeps "$2" --relax "$3" --json j.json
    python3 -c 'import json; print(json.load(open("j.json"))["factor"]["perturbed"])'
}

# Sweep k moves pivots below 0.1 relax^(k-1), so the last of 8 those below 0.0478, and of 3 those below 0.081.
@test "relax makes the least pivot smaller from sweep to sweep" {
    [ "$(moved 0.099 8 1)" = 1 ]
    [ "$(moved 0.101 8 1)" = 0 ]
    [ "$(moved 0.0477 8 0.9)" = 1 ]
    [ "$(moved 0.0479 8 0.9)" = 0 ]
    [ "$(moved 0.0809 3 0.9)" = 1 ]
    [ "$(moved 0.0811 3 0.9)" = 0 ]
}

@test "relax is for jacobi, and between 0 and 1" {
    run -2 --separate-stderr "$SADDLE" solve "$KKT" --method ldlt --relax 0.5
    [[ $stderr == *"--relax applies to jacobi"* ]]
    run -2 "$SADDLE" solve "$KKT" --method jacobi --relax 1.5
    run -2 "$SADDLE" solve "$KKT" --method jacobi --relax 0
}
