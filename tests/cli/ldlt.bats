#!/usr/bin/env bats
# saddle solve --method ldlt and jacobi: their options, their report, and the same bits.
load helper

setup_file() {
    export KKT=$BATS_FILE_TMPDIR/kkt.mtx STOKES=$BATS_FILE_TMPDIR/stokes.mtx
    "$SADDLE" gen kktz 20 --out "$KKT" -q
    "$SADDLE" gen stokes2d 12 --out "$STOKES" -q
}

@test "ldlt solves what a diagonal does not, and the report says how" {
    run -0 "$SADDLE" solve "$KKT" --method ldlt
    [[ $output == *$'\nmethod      ldlt + fgmres on cpu'* ]]
    [[ $output =~ $'\nblocks      '[0-9]+' of at most 8 rows in '[0-9]+' levels, '.*' times those of A, tau 1e-04' ]]
    [[ $output =~ $'\npivots      '[0-9]+' 2x2, 0 perturbed, 0 blocks pushed back' ]]
    narrow 110 <<< "$output"
}

@test "every fill, pivoting and blocking solves" {
    for options in "--fill none" "--fill level:2" "--fill tau:0.001" "--fill tau:0" "--pivot static" "--pivot complete" \
        "--push-back off" "--block-size 4" "--block-size 32" "--blocking grid --pairs off --fill tau:1e-3" \
        "--small-pivot 1e-6" "--krylov sqmr" "--device reference" "--precision mixed"; do
        run -0 "$SADDLE" solve "$STOKES" --method ldlt $options
        [[ ${lines[-1]} == "solved: "* ]]
    done
}

@test "json tells what was done" {
    "$SADDLE" solve "$STOKES" -q --method ldlt --fill tau:0.01 --check on --json j.json
    json j.json 'j["method"] == "ldlt" and j["converged"] and j["factor"]["fill_tau"] == 0.01'
    json j.json 'j["factor"]["levels"] > 1 and j["factor"]["trisolve"] == "exact" and j["factor"]["sweeps"] is None'
    json j.json '0 < j["factor"]["pattern_residual"] < 1e-10 and 0 < j["factor"]["reconstruction_error"] < 1'
    "$SADDLE" solve "$STOKES" -q --method jacobi --maxiter 3000 --json j.json
    json j.json 'j["factor"]["fill_tau"] is None and not j["factor"]["fallback"] and j["factor"]["levels"] <= 64'
    json j.json 'j["factor"]["sweeps"] == 2 and j["factor"]["pattern_residual"] < 1e-10' # those made, not the 8 asked for
    "$SADDLE" solve "$STOKES" -q --method jacobi --sweep-order block --sweeps 5 --fallback none --maxiter 1 --json j.json || [ $? -eq 1 ]
    json j.json 'j["factor"]["sweeps"] == 5 and j["factor"]["levels"] > 5 and j["factor"]["pattern_residual"] > 1e-12'
    "$SADDLE" solve "$STOKES" -q --method direct --json j.json
    json j.json 'j["factor"]["fill_tau"] is None and j["factor"]["trisolve"] is None'
}

@test "triangular solves by sweeps" {
    run -0 "$SADDLE" solve "$STOKES" --method ldlt --trisolve block-jacobi
    run -0 "$SADDLE" solve "$STOKES" --method ldlt --trisolve block-jacobi --trisolve-sweeps 30 --krylov sqmr
    run -0 "$SADDLE" solve "$STOKES" --method ldlt --trisolve jacobi
    run -0 "$SADDLE" solve "$STOKES" -q --method ldlt --trisolve jacobi --trisolve-sweeps 100 --krylov sqmr --json j.json
    json j.json 'j["factor"]["trisolve"] == "jacobi" and j["converged"]'
    run -1 --separate-stderr "$SADDLE" solve "$STOKES" --method ldlt --trisolve jacobi --krylov sqmr
    [[ $output$stderr == *"preconditioner not symmetric"*"--trisolve-sweeps"* ]]
    run -1 --separate-stderr "$SADDLE" solve "$STOKES" --method ldlt --trisolve block-jacobi --krylov sqmr
    [[ $output$stderr == *"preconditioner not symmetric"*"--trisolve-sweeps"* ]]
}

@test "the same bits at one thread, at two, and again" {
    for method in ldlt jacobi; do
        for threads in 1 2 2; do
            "$SADDLE" solve "$KKT" -q --method $method --threads $threads --maxiter 50 --out x.mtx || [ $? -eq 1 ]
            [ ! -e y.mtx ] || cmp x.mtx y.mtx
            mv x.mtx y.mtx
        done
        rm y.mtx
    done
}

@test "what is wrong is said" {
    printf '%s\n' "%%MatrixMarket matrix coordinate real general" "2 2 3" "1 1 1" "1 2 1" "2 2 1" > U.mtx
    run -3 --separate-stderr "$SADDLE" solve U.mtx --method ldlt
    [[ $stderr == *"requires a symmetric matrix"* ]]
    run -2 --separate-stderr "$SADDLE" solve "$KKT" --method direct --fill none
    [[ $stderr == *"--fill applies to ldlt, jacobi, ic and ilu"* ]]
    run -2 --separate-stderr "$SADDLE" solve "$KKT" --method ldlt --sweeps 3
    [[ $stderr == *"--sweeps applies to jacobi, ic and ilu"* ]]
    run -2 --separate-stderr "$SADDLE" solve "$KKT" --method ldlt --fill tau:2
    [[ $stderr == *"--fill-tau cannot be 2"* ]]
    run -2 --separate-stderr "$SADDLE" solve "$KKT" --method ldlt --fill level:
    [[ $stderr == *"--fill-level cannot be"* ]]
    run -2 --separate-stderr "$SADDLE" solve "$KKT" --method ldlt --fill some
    [[ $stderr == *"it must be one of auto|none|level|tau"* ]]
}

@test "too little memory is said" {
    run -4 --separate-stderr "$SADDLE" solve "$STOKES" --method ldlt --max-memory 100K
    [[ $stderr == *"memory"* ]]
}
