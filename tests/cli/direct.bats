#!/usr/bin/env bats
# saddle solve by the direct solver: what it says is held against the matrix; bad input; its options.
load helper

check() { python3 "$BATS_TEST_DIRNAME/check_direct.py" "$@"; }

# judged MATRIX OPTION...: solves by the direct solver with b = A times ones; everything it says must be true.
judged() {
    local matrix=$1
    shift
    "$SADDLE" solve "$matrix" -q --method direct --check "$@" --out x.mtx --json j.json
    check judge "$matrix" x.mtx j.json
}

vector() { # entries...
    matrix "array real general" "$# 1" "$@"
}

# A small saddle-point matrix: 3 positive and 2 negative eigenvalues.
kkt() {
    matrix "coordinate real symmetric" "5 5 8" "1 1 2" "2 2 3" "3 3 4" "4 1 1" "4 2 1" "5 2 1" "5 3 -1" "4 4 0"
}

@test "auto takes it, and the report tells what it planned and found" {
    run -0 --separate-stderr "$SADDLE" solve "$DATA/kkt/aug2dc_saddle.mtx.gz" --check --condition
    [[ $output == *$'\nmethod      direct + refine on cpu'* ]]
    [[ $output =~ $'\nplan        '[0-9]+" fronts, "[0-9.e+]+" entries, "[0-9.e+]+" operations, about "[0-9.]+" MB" ]]
    [[ $output =~ $'\ncritical    '[0-9.e+]+" operations follow each other: threads gain at most "[0-9.]+" times" ]]
    [[ $output =~ $'\nfactor      ldlt, '[0-9.e+]+" entries, "[0-9.e+]+" operations, "[0-9]+" 2x2 pivots, "[0-9]+" delayed" ]]
    [[ $output == *$'\ninertia     20200 positive, 10000 negative, 0 zero eigenvalues\n'* ]]
    [[ $output == *$'\ncheck       largest entry of L '*", 1/threshold 100"* ]]
    [[ $output == *$'\ncondition   about '* && $output == *"unrefined"* ]]
    [[ $output != *$'\nrank'* && $output != *$'\nmatching'* ]]
    narrow 96 <<< "$output"
}

@test "errors, inertia and rank are true, whatever the scaling and the order" {
    laplacian 7 1.1 > laplacian.mtx
    kkt > kkt.mtx
    diagonal > diagonal.mtx
    for kind in rank3 path arrow dense one; do check make $kind $kind.mtx; done
    for name in laplacian kkt diagonal rank3 path arrow dense one; do
        judged $name.mtx
        judged $name.mtx --scaling none --order natural --threshold 0.5
        judged $name.mtx --scaling ruiz --order amd --pairs on --factorization ldlt --device reference
    done
}

@test "a real matrix: errors anew, and the inertia of an optimum" {
    gzip -dc "$DATA/kkt/aug2dc_saddle.mtx.gz" > A.mtx
    judged A.mtx
    json j.json 'j["rank"] == 30200 and [j["inertia"][k] for k in ("positive", "negative", "zero", "certain")] == [20200, 10000, 0, True]'
    json j.json 'j["first_error"] < 1e-10 and j["factor"]["largest_l"] <= 100 and j["factor"]["stale"] == 0'
    json j.json 'j["factor"]["factorization"] == "ldlt" and j["condition"] is None'
}

@test "a general matrix is solved through a symmetric one of twice its size" {
    matrix "coordinate real general" "3 3 5" "1 2 2" "2 3 3" "3 1 4" "1 1 1" "2 1 -1" > A.mtx
    "$SADDLE" solve A.mtx -q --method direct --out x.mtx --json j.json
    python3 "$BATS_TEST_DIRNAME/check_errors.py" A.mtx x.mtx j.json
    json j.json 'j["converged"] and j["inertia"]["positive"] is None and j["backward_error"] < 1e-15'
}

@test "A times 1e200 and 1e-200: the same pivots" {
    check make arrow A.mtx
    laplacian 9 1.3 > B.mtx
    for name in A B; do
        "$SADDLE" solve $name.mtx -q --method direct --json $name.json
        for factor in 1e200 1e-200; do
            check scale $name.mtx scaled.mtx $factor
            "$SADDLE" solve scaled.mtx -q --method direct --json scaled.json
            check alike $name.json scaled.json
            json scaled.json 'j["backward_error"] < 1e-15 and j["forward_error"] < 1e-9'
        done
    done
}

@test "values beyond all numbers are refused" {
    for value in nan inf -inf 1e999; do
        matrix "coordinate real symmetric" "2 2 2" "1 1 1" "2 2 $value" > A.mtx
        run -3 --separate-stderr "$SADDLE" solve A.mtx --method direct
        [[ $stderr == *A.mtx* ]]
    done
    matrix "coordinate real symmetric" "2 2 3" "1 1 1e308" "1 1 1e308" "2 2 1" > A.mtx
    run -3 --separate-stderr "$SADDLE" solve A.mtx --method direct
    [ -n "$stderr" ]
}

@test "nothing but zeros, stored or not: x = 0 where b = 0, otherwise inconsistent" {
    matrix "coordinate real symmetric" "3 3 3" "1 1 0" "2 2 0" "3 1 0" > zeros.mtx
    matrix "coordinate real symmetric" "3 3 0" > empty.mtx
    vector 0 0 0 > b.mtx
    for name in zeros empty; do
        for method in auto direct; do
            run -0 "$SADDLE" solve $name.mtx --method $method --rhs b.mtx --json j.json
            json j.json 'j["rank"] == 0 and j["inertia"]["zero"] == 3 and j["backward_error"] == 0'
            run -6 --separate-stderr "$SADDLE" solve $name.mtx --method $method --rhs ones --out x.mtx
            [[ $stderr == *"row 1"* ]]
            [ "$(grep -v '^%' x.mtx | tail -n +2 | sort -u)" = 0 ]
        done
    done
}

@test "structurally singular: rank 2 of 3, solved where it can be" {
    matrix "coordinate real symmetric" "3 3 2" "2 1 1" "3 1 1" > A.mtx
    judged A.mtx
    json j.json 'j["rank"] == 2'
    vector 1 1 2 > b.mtx
    run -6 "$SADDLE" solve A.mtx --rhs b.mtx --json j.json
    [[ $output == *$'\nrank        2 of 3: the matrix is singular\n'* ]]
    json j.json 'j["rank"] == 2 and j["reason"] == "singular and inconsistent"'
}

@test "numerically singular: the rank, and 6 where there is no solution" {
    for kind in rank3 path; do
        check make $kind A.mtx
        for seed in 1 2 3; do
            run -6 "$SADDLE" solve A.mtx --rhs random --seed $seed --json j.json
            [[ ${lines[-1]} == *"no x satisfies the system"* || $output == *"no x satisfies the system"* ]]
        done
    done
    json j.json 'j["rank"] == 49 and j["inertia"]["zero"] == 1'
    run -0 "$SADDLE" solve A.mtx --condition
    [[ $output == *$'\ncondition   infinite: the matrix is singular\n'* ]]
}

@test "a limit that is too small: 4, and the need is named" {
    laplacian 150 0.5 > A.mtx
    run -4 --separate-stderr "$SADDLE" solve A.mtx --method direct --max-memory 10M --json j.json
    [[ $stderr =~ "needs about "[0-9]+" MB" && $stderr == *"raise"* ]]
    json j.json 'j["status"] == 4 and "MB" in j["message"]'
}

@test "--factorization cholesky on an indefinite matrix: 1, and what to do" {
    kkt > A.mtx
    run -1 --separate-stderr "$SADDLE" solve A.mtx --factorization cholesky --json j.json --out x.mtx
    [[ $stderr == *"not positive definite"*"ldlt"* && $stderr == *"x was not written"* ]]
    json j.json 'j["status"] == 1 and not j["converged"]'
    laplacian 8 0 > A.mtx
    "$SADDLE" solve A.mtx -q --factorization cholesky --json j.json
    json j.json 'j["factor"]["factorization"] == "cholesky" and j["inertia"]["positive"] == 64'
}

@test "--factorization static: signs, and a refined answer" {
    kkt > A.mtx
    vector 1 1 1 -1 -1 > signs.mtx
    run -0 "$SADDLE" solve A.mtx --factorization static --signs signs.mtx --regularise 1e-6 --json j.json
    [[ $output == *$'\npivots      3 positive and 2 negative, '*" of them regularised"* ]]
    json j.json 'j["factor"]["factorization"] == "static" and j["inertia"]["positive"] is None'
    json j.json 'j["relative_residual"] <= 1e-10 and j["factor"]["delayed"] == 0'
}

@test "files of the wrong length or content: 3, with both numbers" {
    kkt > A.mtx
    vector 1 1 1 > three.mtx
    for option in --scaling --order "--factorization static --signs"; do
        run -3 --separate-stderr "$SADDLE" solve A.mtx $option three.mtx --json j.json
        [[ $stderr == *"three.mtx"*"has 3 entries, the matrix has 5 rows"* ]]
        json j.json 'j["status"] == 3'
    done
    vector 1 2 3 4 4 > twice.mtx
    run -3 --separate-stderr "$SADDLE" solve A.mtx --order twice.mtx
    [[ $stderr == *twice.mtx* ]]
    vector 1 1 1 0 -1 > zero.mtx
    run -3 --separate-stderr "$SADDLE" solve A.mtx --scaling zero.mtx
    [[ $stderr == *zero.mtx* ]]
    vector 1 1 2 -1 -1 > two.mtx
    run -3 --separate-stderr "$SADDLE" solve A.mtx --factorization static --signs two.mtx
    [[ $stderr == *"two.mtx: not a vector of signs: entry 3 is 2"* ]]
    run -2 --separate-stderr "$SADDLE" solve - --order - < A.mtx
    [[ $stderr == *"standard input"* ]]
}

@test "what prepare writes, solve takes" {
    laplacian 9 1.3 > A.mtx
    "$SADDLE" prepare A.mtx -q --order amd --out prepared
    judged A.mtx --order prepared/permutation.mtx --scaling prepared/scaling.mtx
    cp j.json files.json
    judged A.mtx --order amd
    check alike files.json j.json
}

@test "the same bytes at 1, 2, 3 and 8 threads" {
    "$SADDLE" gen lap3d 14 --out lap3d.mtx
    "$SADDLE" gen stokes2d 40 --out stokes.mtx
    for name in lap3d stokes; do
        for threads in 1 2 3 8; do
            "$SADDLE" solve $name.mtx -q --method direct --rhs random --threads $threads --out x$threads.mtx
            cmp x1.mtx x$threads.mtx
        done
    done
}

@test "mixed precision reaches what double does" {
    laplacian 20 1.3 > A.mtx
    "$SADDLE" solve A.mtx -q --method direct --precision mixed --json j.json
    json j.json 'j["converged"] and j["backward_error"] < 1e-14 and j["precision"] == "mixed"'
}

@test "a plot of the refinement" {
    laplacian 20 1.3 > A.mtx
    "$SADDLE" solve A.mtx -q --method direct --rhs random --plot c.svg --json j.json
    [ -s c.svg ]
    json j.json 'len(j["history"]) == j["iterations"] >= 1 and j["history"][-1] == j["relative_residual"]'
}

# METIS has handlers of its own while it runs, which once took the signal in another thread.
@test "SIGTERM in a long factorization ends it, and in an ordering after it" {
    "$SADDLE" gen lap3d 60 --out A.mtx
    long=(solve A.mtx -v --method direct --order metis --threads 1 --json j.json)
    run -130 --separate-stderr interrupt "said: fronts, " TERM "$SADDLE" "${long[@]}" # planned
    # asked between fronts, so that a signal during the last of them is the solve's
    [[ $stderr == *"interrupted in "@(analyse|factor|solve)* ]] || { echo "$stderr"; false; }
    json j.json 'j["reason"] == "cancelled" and not j["converged"]'
    run -130 --separate-stderr interrupt "said:need a pair" TERM "$SADDLE" "${long[@]}" # METIS itself cannot be stopped
    [[ $stderr == *"interrupted in prepare"* ]]
    json j.json 'j["reason"] == "cancelled" and j["factor"]["planned_nnz"] is None'
}
