#!/usr/bin/env bats
# Small systems that an earlier version got wrong (tests/data/cases), against their exact answers.
load helper

CASES=$DATA/cases

# name, exact numbers of positive, negative and zero eigenvalues
EXACT="stiff3 2 1 0
neumann100 100 0 0
ipm60 45 15 0
quasi_sign12 7 5 0
quasi10 7 3 0
wrongsign19 14 4 1
path3 2 0 1
incons3 1 1 1
graded_nonsing_n3 1 2 0
graded_sing_n4 1 2 1
graded13 6 6 1
graded17 9 6 2"

# solved NAME OPTION...: runs it with the right-hand side of the case, if it has one; the exit status is in $status.
solved() {
    local rhs=()
    [ ! -e "$CASES/${1}_b.mtx" ] || rhs=(--rhs "$CASES/${1}_b.mtx")
    run --separate-stderr "$SADDLE" solve "$CASES/$1.mtx" "${rhs[@]}" "${@:2}" --json j.json
    echo "$*: exit status $status, $stderr"
}

# counted POSITIVE NEGATIVE ZERO: an inertia that is certain is this one; one in doubt has bounds that hold it.
counted() {
    json j.json "(lambda i: i['negative_least'] <= $2 <= i['negative_most'] and
        i['certain'] is (i['doubt'] is None) and
        (not i['certain'] or i['negative_least'] == i['negative_most']) and
        (not i['certain'] or [i['positive'], i['negative'], i['zero']] == [$1, $2, $3]) and
        j['rank'] == i['positive'] + i['negative'])(j['inertia'])"
}

@test "no inertia told as certain is wrong, and bounds hold the exact one" {
    local count=0
    while read -r name positive negative zero; do
        for options in "" "--order natural --threshold 0.5" "--scaling none" "--device reference"; do
            solved $name $options
            counted $positive $negative $zero
        done
        count=$((count + 1))
    done <<< "$EXACT"
    [ $count = 12 ]
}

@test "nonsingular systems with a condition near 1e13 are solved, and called singular by no method" {
    for name in stiff3 neumann100; do
        solved $name
        [ "$status" = 0 ]
        json j.json 'j["inertia"]["certain"] and j["inertia"]["zero"] == 0'
        for options in "--method direct" "--method ldlt" "--method ldlt --krylov refine" "--method jacobi" \
            "--method diagonal" "--method direct --factorization static"; do
            solved $name $options
            [ "$status" = 0 ] || [ "$status" = 1 ]
        done
    done
}

@test "quasidefinite and interior-point systems whose signs were wrong are solved" {
    while read -r name positive negative; do
        solved $name
        [ "$status" = 0 ]
        json j.json "j['converged'] and j['inertia']['certain']"
        counted $positive $negative 0
    done <<'LIST'
quasi10 7 3
quasi_sign12 7 5
ipm60 45 15
LIST
}

@test "Cholesky's factorization of a singular matrix does not give it full rank" {
    solved path3 --factorization cholesky
    json j.json 'not (j["inertia"]["certain"] and j["rank"] == 3)'
    [ "$status" != 0 ] || counted 2 0 1
}

@test "an inconsistent system is solved by no method, however well a huge x satisfies it" {
    for options in "" "--method direct" "--method ldlt" "--method ldlt --krylov refine" "--method jacobi" \
        "--method direct --factorization static"; do
        solved incons3 $options
        [ "$status" = 1 ] || [ "$status" = 6 ]
        json j.json 'not j["converged"]'
    done
}
