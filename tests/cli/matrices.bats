#!/usr/bin/env bats
# Real matrices: a status of the table and valid JSON for every one, errors that are true, and preparations
# that hold.
#
# They are looked for in SADDLE_MATRICES (the folder shared/matrices beside the repository by default).
# Files above 40 kB are left out but with SADDLE_TEST_FULL=1; SADDLE_TEST_SLOW=1, for programs that
# are many times slower than they should be, takes only the small ones.
load helper

# matrices SIZE: those of the files below SIZE, or all.
matrices() {
    local size=()
    [ -d "$MATRICES" ] || skip "there are no matrices in $MATRICES"
    [ "$1" = all ] || size=(-size "-$1")
    find "$MATRICES" -name '*.mtx.gz' "${size[@]}" | sort > list
    [ -s list ]
}

# inertia_is_listed MATRIX: report.json has the inertia of the table beside the matrices, in which all are that are
# symmetric.
inertia_is_listed() {
    [ -e "$MATRICES/INERTIA.tsv" ] || return 0
    python3 "$BATS_TEST_DIRNAME/check_direct.py" table "$MATRICES/INERTIA.tsv" "$1" report.json
}

# every METHOD STATUS...: solves with each matrix, with these statuses; what is wrong is printed, and makes it fail.
every() {
    local method=$1 most=40k status matrix
    shift
    [ -z "${SADDLE_TEST_SLOW:-}" ] || most=12k
    [ -z "${SADDLE_TEST_FULL:-}" ] || most=all
    matrices $most
    touch wrong
    while read -r matrix; do
        status=0
        "$SADDLE" solve "$matrix" --method "$method" -q --json report.json 2> message || status=$?
        [[ " $* " == *" $status "* ]] || echo "$matrix: status $status: $(cat message)" >> wrong
        json report.json "(j['status'] == $status and j['converged'] == ($status == 0) and j['reason'] and
            j['relative_residual'] is not None)" > said 2>&1 || { echo "$matrix:"; head -n 3 said; } >> wrong
        [ "$method" != direct ] || inertia_is_listed "$matrix" > said 2>&1 || echo "$matrix: $(cat said)" >> wrong
    done < list
    [ ! -s wrong ] || { cat wrong; return 1; }
}

@test "every matrix, without a preconditioner" {
    every none 0 1 6
}

@test "every matrix, with its diagonal" {
    every diagonal 0 1 6
}

# 6: a stiff positive definite matrix may be taken for a singular one, whose converged x is its null vector
@test "every matrix, by the direct solver, with the inertia that is listed for it" {
    every direct 0 6
}

@test "the errors of small ones, computed anew in fractions" {
    matrices 4k
    while read -r matrix; do
        for method in none diagonal direct; do
            status=0
            "$SADDLE" solve "$matrix" --method $method -q --out x.mtx --json report.json 2> message || status=$?
            [ "$status" -le 1 ]
            python3 "$BATS_TEST_DIRNAME/check_errors.py" "$matrix" x.mtx report.json
        done
    done < list
}

@test "small ones prepared: all that is written is held against the matrix" {
    matrices "$([ -n "${SADDLE_TEST_SLOW:-}" ] && echo 8k || echo 24k)"
    while read -r matrix; do
        for options in "" "--blocking clusters --pairs on --order metis"; do
            rm -rf out
            # shellcheck disable=SC2086
            "$SADDLE" prepare "$matrix" -q --out out --json report.json $options
            python3 "$BATS_TEST_DIRNAME/check_prepare.py" "$matrix" out report.json || echo "$matrix $options" >> wrong
        done
    done < list
    [ ! -e wrong ] || { cat wrong; return 1; }
}
