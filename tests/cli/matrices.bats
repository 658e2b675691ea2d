#!/usr/bin/env bats
# Real matrices: a status of the table and valid JSON for every one, errors that are true, and preparations
# that hold.
#
# They are looked for in SADDLE_MATRICES (the folder shared/matrices beside the repository by default).
# Files above 100 kB are left out but with SADDLE_TEST_FULL=1.
load helper

matrices() {
    local folder=${SADDLE_MATRICES:-$BATS_TEST_DIRNAME/../../../shared/matrices} size=(-size "-$1")
    [ -d "$folder" ] || skip "there are no matrices in $folder"
    if [ -n "${SADDLE_TEST_FULL:-}" ] && [ -z "${2:-}" ]; then size=(); fi
    find "$folder" -name '*.mtx.gz' "${size[@]}" | sort
}

# inertia_is_listed MATRIX: report.json has the inertia of the table beside the matrices, where it is in it.
inertia_is_listed() {
    local listing
    listing=$(dirname "$(dirname "$1")")/INERTIA.tsv
    [ ! -e "$listing" ] || python3 "$BATS_TEST_DIRNAME/check_direct.py" table "$listing" "$1" report.json
}

# every METHOD: solves with each matrix; what is wrong is printed, and makes it fail.
every() {
    matrices 100k > list
    [ -s list ]
    while read -r matrix; do
        status=0
        timeout 60 "$SADDLE" solve "$matrix" --method "$1" -q --json report.json 2> message || status=$?
        case $status in
        0 | 1 | 6) json report.json "j['status'] == $status and j['converged'] == ($status == 0) and \
j['reason'] and j['relative_residual'] is not None" || echo "$matrix" >> wrong
            [ "$1" != direct ] || inertia_is_listed "$matrix" >> wrong || true ;;
        *) echo "$matrix: status $status: $(cat message)" >> wrong ;;
        esac
    done < list
    [ ! -s wrong ] || { cat wrong; return 1; }
}

@test "every matrix, without a preconditioner" {
    every none
}

@test "every matrix, with its diagonal" {
    every diagonal
}

@test "every matrix, by the direct solver, with the inertia that is listed for it" {
    every direct
}

@test "the errors of small ones, computed anew in fractions" {
    matrices 4k small > list
    [ -s list ]
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
    matrices 24k small > list
    [ -s list ]
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
