#!/usr/bin/env bats
# A matrix without rows is solved like any other: no exit status, no picture and no number of it is out of order.
load helper

setup_file() {
    matrix "coordinate real symmetric" "0 0 0" > "$BATS_FILE_TMPDIR/S.mtx"
    matrix "coordinate real general" "0 0 0" > "$BATS_FILE_TMPDIR/G.mtx"
    matrix "array real general" "0 1" > "$BATS_FILE_TMPDIR/b.mtx"
}

# What stands in any output of an empty matrix, whatever is asked: no NaN and no infinity.
sober() { ! grep -qiE '(^|[^a-z])-?(nan|inf)([^a-z]|$)' <<<"$1"; }

solved() {
    run -0 --separate-stderr "$SADDLE" solve "$@" --json j.json
    [ -z "$stderr" ]
    sober "$output"
    [[ ${lines[-1]} == "solved: "* ]]
    json j.json '(j["status"] == 0 and j["converged"] is True and j["message"] is None and
        j["matrix"]["n"] == 0 and j["matrix"]["nnz"] == 0 and j["iterations"] == 0 and
        j["backward_error"] == 0 == j["componentwise_error"] == j["relative_residual"])'
}

@test "solved, by every method (tests/unit/test_empty.c has the iterations and variants)" {
    solved "$BATS_FILE_TMPDIR/G.mtx"
    for method in ldlt jacobi bjacobi diagonal none; do
        solved "$BATS_FILE_TMPDIR/S.mtx" --method $method
        grep -q "\"method\": \"$method\"" j.json
    done
}

@test "no eigenvalues, no rank, a condition of 0" {
    solved "$BATS_FILE_TMPDIR/S.mtx" --method direct --condition
    json j.json '[j["inertia"][k] for k in ("positive", "negative", "zero")] == [0, 0, 0] and j["rank"] == 0 and j["condition"] == 0'
}

@test "right-hand sides of every kind, x, and a picture" {
    for rhs in ones random A1 "$BATS_FILE_TMPDIR/b.mtx"; do
        solved "$BATS_FILE_TMPDIR/S.mtx" --rhs "$rhs" --out x.mtx --plot p.svg
        [ "$(grep -v '^%' x.mtx)" = "0 1" ]
        [ -s p.svg ]
    done
    printf '1 1\n5\n' | { matrix "array real general" && cat; } > long.mtx
    run -3 --separate-stderr "$SADDLE" solve "$BATS_FILE_TMPDIR/S.mtx" --rhs long.mtx
    [[ $stderr == *"the matrix has 0 rows"* ]]
}

@test "info" {
    for matrix in S G; do
        run -0 --separate-stderr "$SADDLE" info "$BATS_FILE_TMPDIR/$matrix.mtx" --json j.json --plot p.png
        [[ $output == *"0 x 0, 0 entries"* && -z $stderr ]]
        sober "$output"
        json j.json 'j["status"] == 0 and j["matrix"]["rows"] == 0'
        [ -s p.png ]
    done
}

@test "prepare" {
    for matrix in S G; do
        for options in "" "--blocking clusters --pairs on --order metis"; do
            # shellcheck disable=SC2086 # several words
            run -0 --separate-stderr "$SADDLE" prepare "$BATS_FILE_TMPDIR/$matrix.mtx" $options --out out --json j.json
            [ -z "$stderr" ]
            sober "$output"
            json j.json 'j["status"] == 0 and j["matrix"]["n"] == 0'
            [ "$(grep -v '^%' out/permutation.mtx)" = "0 1" ]
        done
    done
}

@test "convert, there and back" {
    for matrix in S G; do
        "$SADDLE" convert "$BATS_FILE_TMPDIR/$matrix.mtx" a.rb
        "$SADDLE" convert a.rb b.mtx.gz
        "$SADDLE" convert b.mtx.gz c.mtx
        [ "$(grep -v '^%' c.mtx)" = "0 0 0" ]
        solved a.rb
    done
}
