#!/usr/bin/env bats
# saddle solve: what it writes, and its exit statuses.
load helper

@test "0: solved, with a report that says so" {
    laplacian 12 0 > A.mtx
    run -0 --separate-stderr "$SADDLE" solve A.mtx
    [[ $output == *"n 144, nnz 672, symmetric"* ]]
    [[ $output == *"relative residual"* && $output == *"backward"* && $output == *"forward"* ]]
    [[ ${lines[-1]} == "solved: "* ]]
    [ -z "$stderr" ]
}

@test "1: not reached: the best x is written, and said to be so" {
    laplacian 12 0 > A.mtx
    run -1 --separate-stderr "$SADDLE" solve A.mtx --method diagonal --maxiter 2 --out x.mtx
    [[ ${lines[-1]} == "NOT solved: iteration limit; "* ]]
    [[ $output == *"the best found, not a solution"* ]]
    grep -q "NOT solved" x.mtx
    [ "$(grep -vc '^%' x.mtx)" -eq 145 ]
}

@test "1 with -q: the reason goes to standard error, nothing to standard output" {
    laplacian 12 0 > A.mtx
    run -1 --separate-stderr "$SADDLE" solve A.mtx --method diagonal --maxiter 2 -q
    [ -z "$output" ]
    [[ $stderr == *"NOT solved"* ]]
}

@test "3: a file that is not there" {
    run -3 --separate-stderr "$SADDLE" solve nowhere.mtx
    [[ $stderr == *"nowhere.mtx"* ]]
    [ -z "$output" ]
}

@test "4: the memory limit is too small, for reading or for solving" {
    laplacian 40 0 > A.mtx
    for limit in 1K 100K 150K; do
        run -4 --separate-stderr "$SADDLE" solve A.mtx --max-memory "$limit" --json j.json --krylov gmres
        [[ $stderr == *memory* || $stderr == *limit* ]]
        json j.json 'j["status"] == 4 and not j["converged"]'
    done
}

@test "the memory limit is kept" {
    laplacian 40 0 > A.mtx
    "$SADDLE" solve A.mtx -q --max-memory 20M --json j.json
    json j.json 'j["method"] == "direct" and 0 < j["bytes"]["peak"] <= 20 * 2**20'
}

@test "5: no such device" {
    diagonal > A.mtx
    SADDLE_CUDA_MODULE=$PWD/nowhere.so run -5 --separate-stderr "$SADDLE" solve A.mtx --device cuda --json j.json
    [ -n "$stderr" ]
    json j.json 'j["status"] == 5 and j["message"]'
}

@test "6: singular and inconsistent" {
    matrix "coordinate real symmetric" "3 3 2" "1 1 2" "2 2 3" > A.mtx
    run -6 --separate-stderr "$SADDLE" solve A.mtx --rhs ones --json j.json
    json j.json 'j["status"] == 6 and j["reason"] == "singular and inconsistent"'
}

@test "a right-hand side from a file, and x with 17 digits" {
    diagonal > A.mtx
    matrix "array real general" "4 1" 0.1 0.2 0.3 0.7 > b.mtx
    "$SADDLE" solve A.mtx --method diagonal --rhs b.mtx --out x.mtx -q
    head -1 x.mtx | grep -qx '%%MatrixMarket matrix array real general'
    python3 - <<'PY'
lines = [line.split() for line in open("x.mtx") if not line.startswith("%")]
assert lines[0] == ["4", "1"], lines[0]
x = [float(line[0]) for line in lines[1:]]
assert x == [0.1, -0.1, 0.3 / 4, -0.7 / 8], x
PY
}

@test "a right-hand side of the wrong length is refused" {
    diagonal > A.mtx
    matrix "array real general" "3 1" 1 2 3 > b.mtx
    run -3 --separate-stderr "$SADDLE" solve A.mtx --rhs b.mtx
    [[ $stderr == *"b.mtx: the right-hand side has 3 entries, the matrix has 4 rows"* ]]
}

@test "a random right-hand side is the same for the same seed, and another for another" {
    diagonal > A.mtx
    for seed in 1 1 2; do
        "$SADDLE" solve A.mtx --method diagonal --rhs random --seed $seed --out x$seed.mtx -q
        sed -i /^%/d x$seed.mtx
        [ ! -e first ] && cp x$seed.mtx first
    done
    cmp first x1.mtx
    run ! cmp -s first x2.mtx
    # b is uniform in [-1, 1)
    awk 'NR > 1 && ($1 < -1 || $1 >= 1) { exit 1 }' x1.mtx
}

@test "b = 0 gives x = 0" {
    diagonal > A.mtx
    matrix "array real general" "4 1" 0 0 0 0 > b.mtx
    run -0 "$SADDLE" solve A.mtx --rhs b.mtx --json j.json
    json j.json 'j["backward_error"] == j["relative_residual"] == j["componentwise_error"] == 0'
}

@test "the matrix comes from standard input" {
    run -0 bash -c "$(declare -f laplacian); laplacian 5 0 | '$SADDLE' solve - --json j.json"
    json j.json 'j["matrix"]["n"] == 25 and j["matrix"]["nnz"] == 105'
}

@test "a gzipped matrix, plain or from standard input, gives the same x" {
    laplacian 9 0 > A.mtx
    gzip -k A.mtx
    "$SADDLE" solve A.mtx -q --out - > x1
    "$SADDLE" solve A.mtx.gz -q --out - > x2
    "$SADDLE" solve - -q --out - < A.mtx.gz > x3
    cmp <(sed /^%/d x1) <(sed /^%/d x2)
    cmp <(sed /^%/d x1) <(sed /^%/d x3)
}

@test "--out - writes x and nothing else to standard output" {
    diagonal > A.mtx
    "$SADDLE" solve A.mtx --method diagonal --out - > x.mtx
    [ "$(head -c 14 x.mtx)" = "%%MatrixMarket" ]
    [ "$(grep -vc '^%' x.mtx)" -eq 5 ]
}

@test "-q prints nothing, and still writes what was asked for" {
    diagonal > A.mtx
    run -0 --separate-stderr "$SADDLE" solve A.mtx --method diagonal -q --out x.mtx --json j.json --plot c.svg
    [ -z "$output" ]
    [ -z "$stderr" ]
    [ -s x.mtx ]
    [ -s c.svg ]
    is_json j.json
}

@test "no colour where there is no terminal, or with NO_COLOR" {
    needs_terminal
    diagonal > A.mtx
    "$SADDLE" solve A.mtx --method diagonal > plain
    run ! grep -q $'\033' plain
    command -v script > /dev/null || skip "script is not installed"
    script -qec "'$SADDLE' solve A.mtx --method diagonal" /dev/null > coloured
    grep -q $'\033\[1;32msolved' coloured
    NO_COLOR=1 script -qec "'$SADDLE' solve A.mtx --method diagonal" /dev/null > plain
    run ! grep -q $'\033' plain
}

@test "SADDLE_LOG that is none is said to be so" {
    diagonal > A.mtx
    SADDLE_LOG=loud run -0 --separate-stderr "$SADDLE" solve A.mtx --method diagonal
    [[ $stderr == *'SADDLE_LOG is "loud"'* ]]
}

@test "a rectangular matrix is refused" {
    matrix "coordinate real general" "2 3 1" "1 1 1" > A.mtx
    run -3 --separate-stderr "$SADDLE" solve A.mtx
    [[ $stderr == *"2 rows and 3 columns"* ]]
}

@test "the same bits at any number of threads" {
    laplacian 30 0.5 > A.mtx
    for method in diagonal direct; do
        for threads in 1 2 3; do
            "$SADDLE" solve A.mtx -q --threads $threads --out - --maxiter 50 --method $method > x$threads ||
                [ $? -eq 1 ]
        done
        cmp x1 x2
        cmp x1 x3
    done
}

@test "the advice after --krylov none is not to raise --maxiter" {
    laplacian 5 0 > A.mtx
    run -1 --separate-stderr "$SADDLE" solve A.mtx --rhs ones --krylov none
    [[ ${lines[-1]} == *"does not iterate"* && ${lines[-1]} != *maxiter* ]]
    run -1 --separate-stderr "$SADDLE" solve -q A.mtx --rhs ones --krylov none
    [[ $stderr == *"does not iterate"* ]]
}

@test "the advice at the limit of iterations names no method that was used" {
    laplacian 20 0 > A.mtx
    run -1 --separate-stderr "$SADDLE" solve A.mtx --rhs ones --method diagonal --maxiter 2
    [[ ${lines[-1]} == *"raise --maxiter"* && ${lines[-1]} != *diagonal* ]]
}

@test "in single precision the advice is more precision, not only more iterations" {
    laplacian 40 0.5 > A.mtx
    for quiet in "" -q; do
        run -1 "$SADDLE" solve A.mtx $quiet --precision single --krylov minres --maxiter 300
        [[ ${lines[-1]} == *"precision mixed or double"* ]] || { echo "${lines[-1]}"; return 1; }
    done
}

@test "valgrind runs it, though it starts itself again elsewhere" {
    command -v valgrind > /dev/null || skip "valgrind is not installed"
    ! grep -q "__[at]san_init" "$SADDLE" || skip "valgrind cannot run a sanitizer"
    laplacian 6 0.5 > A.mtx
    for chosen in active passive; do # the user's choice; without one it starts again in any case
        OMP_WAIT_POLICY=$chosen run -0 valgrind -q --error-exitcode=99 "$SADDLE" solve A.mtx
        [[ $output == *"solved: "* ]]
    done
    env -u OMP_WAIT_POLICY valgrind -q --error-exitcode=99 "$SADDLE" solve A.mtx -q
}

# with_memory FROM TO STEP ARGUMENT...: solves with each limit of so many kB; once it is solved, more memory does not fail.
with_memory() {
    local from=$1 to=$2 step=$3 limit solved=
    shift 3
    for ((limit = from; limit <= to; limit += step)); do
        if "$SADDLE" solve A.mtx --max-memory ${limit}K -q --json j.json "$@" 2> error; then
            solved=${solved:-$limit}
            json j.json "j['bytes']['peak'] <= $limit * 1024"
        else
            [ -z "$solved" ] || { echo "$* solves with ${solved}K, not with ${limit}K: $(cat error)"; return 1; }
            json j.json 'j["relative_residual"] is not None or j["reason"] in ("out of memory", "the memory limit is too small")'
        fi
    done
    [ -n "$solved" ]
}

@test "more memory never serves worse, and the limit is kept" {
    "$SADDLE" gen stokes3d 7 --out A.mtx
    with_memory 500 4700 600
    with_memory 2300 4700 600 --method direct
    with_memory 1100 4700 900 --method ldlt
}
