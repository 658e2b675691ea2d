#!/usr/bin/env bats
# saddle info: what it says of matrices that are known, its JSON, its plot, what it refuses.
load helper

# matrix SYMMETRY "SIZES" "ENTRY"...: a Matrix Market file on standard output.
matrix() {
    printf '%%%%MatrixMarket matrix coordinate real %s\n' "$1"
    shift
    printf '%s\n' "$@"
}

@test "a pipe: gen to info" {
    run -0 bash -c '"$SADDLE" gen lap2d 10 | "$SADDLE" info -'
    [[ "$output" == *"100 x 100, 460 entries, 4.6 per row"* ]]
    [[ "$output" == *"280 entries with the diagonal"* ]]
    [[ "$output" == *"symmetric in structure and value"* ]]
    [[ "$output" == *"positive definite: the diagonal is positive"* ]]
    [[ "$output" == *"100 positive, 0 negative, 0 zero"* ]]
    [[ "$output" == *"one 8, infinity 8"* ]]
    [[ "$output" == *"3 to 5 nonzeros; bandwidth 10"* ]]
    [[ "$output" != *warnings* ]]
}

@test "every reason for being indefinite" {
    matrix symmetric "2 2 2" "1 1 1" "2 2 -1" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"indefinite: the diagonal has both signs"* ]]
    matrix symmetric "2 2 2" "1 1 1" "2 1 5" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"indefinite: a zero diagonal entry with nonzeros in its row"* ]]
    [[ "$output" == *"1 zero (1 not stored)"* ]]
    matrix symmetric "2 2 3" "1 1 1" "2 2 1" "2 1 5" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"indefinite: an entry is larger than the geometric mean"* ]]
    matrix symmetric "3 3 6" "1 1 1" "2 2 1" "3 3 1" "2 1 .9" "3 1 .9" "3 2 .9" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"unknown: cannot be decided from the entries alone"* ]]
}

@test "symmetry in structure and in value" {
    matrix general "2 2 4" "1 1 3" "2 2 3" "1 2 1" "2 1 2" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"symmetric in structure, not in value"* ]]
    matrix general "2 2 3" "1 1 3" "2 2 3" "1 2 1" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"not symmetric"* ]]
    matrix general "2 2 4" "1 1 3" "2 2 3" "1 2 1" "2 1 1" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"symmetric in structure and value"* ]]
}

@test "what is odd is warned of" {
    matrix symmetric "3 3 4" "1 1 1e20" "2 2 1e-3" "2 2 1" "2 1 0" >A.mtx
    run -0 "$SADDLE" info A.mtx
    [[ "$output" == *"1 duplicate entry was summed"*"row 2, column 2"* ]]
    [[ "$output" == *"1 row has no nonzero: the matrix is singular"* ]]
    [[ "$output" == *"2 explicit zeros"* ]]
    [[ "$output" == *"span 20 decades"* ]]
}

@test "JSON has the same facts, and nothing else goes to standard output" {
    run -0 --separate-stderr bash -c '"$SADDLE" gen pdeco2d 5 | "$SADDLE" info - --json -'
    echo "$output" | jq -e '.matrix.rows == 75 and .matrix.nnz == 310 and .matrix.kind == "indefinite"
        and .matrix.symmetry == "symmetric" and .matrix.pattern_symmetric == true
        and .diagonal == {positive: 50, negative: 0, zero: 25, missing: 25}
        and .rows.empty == 0 and .explicit_zeros == 0 and .status == 0 and .message == null
        and .norms.one == .norms.infinity and .warnings == [] and .saddle != null'
}

@test "bad input: status 3, a message, and JSON with nulls" {
    matrix symmetric "2 2 2" "1 1 nan" "2 2 1" >A.mtx
    run -3 --separate-stderr "$SADDLE" info A.mtx --json facts.json
    [[ "$stderr" == *"A.mtx"* ]]
    jq -e '.status == 3 and .matrix.nnz == null and (.message | length) > 0' facts.json
    matrix general "2 2 2" "1 1 1" "3 2 1" >A.mtx
    run -3 --separate-stderr "$SADDLE" info A.mtx --json facts.json
    [[ "$stderr" == *"A.mtx"* ]]
    jq -e '.status == 3' facts.json
    run -3 --separate-stderr "$SADDLE" info nothing.mtx
    [[ "$stderr" == *"nothing.mtx"* ]]
    matrix general "2 3 1" "1 3 1" >A.mtx
    run -3 --separate-stderr "$SADDLE" info A.mtx
    [[ "$stderr" == *"2 x 3"* ]]
}

@test "the plot, as PNG and as SVG" {
    "$SADDLE" gen stokes2d 30 >A.mtx
    "$SADDLE" info -q A.mtx --plot A.png
    [ "$(head -c 4 A.png | tail -c 3)" = PNG ]
    "$SADDLE" info -q A.mtx --plot A.svg
    grep -q 'n = 2,639' A.svg
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse("A.svg")'
}

@test "a plot that cannot be made is refused before the work" {
    run -2 --separate-stderr "$SADDLE" info nothing.mtx --plot A.gif
    [[ "$stderr" == *".png or .svg"* ]]
    "$SADDLE" gen lap2d 3 >A.mtx
    run -3 --separate-stderr "$SADDLE" info A.mtx --plot no/such/A.png
    [ -z "$output" ]
    [[ "$stderr" == *"no/such/A.png"* ]]
    [ "$(find . -type f | wc -l)" -eq 1 ]
}

@test "-q prints nothing" {
    "$SADDLE" gen lap2d 3 >A.mtx
    run -0 "$SADDLE" info -q A.mtx
    [ -z "$output" ]
}

@test "a limit on memory is status 4" {
    "$SADDLE" gen lap2d 50 >A.mtx
    run -4 --separate-stderr "$SADDLE" info A.mtx --max-memory 1K
    [ -n "$stderr" ]
}

@test "a limit of memory that is too small is told as such, by info and convert" {
    diagonal > A.mtx
    run -4 --separate-stderr "$SADDLE" info A.mtx --max-memory 10K
    [[ $stderr == *"the limit of 10240 bytes is too small"*"raise --max-memory"* ]]
    run -4 --separate-stderr "$SADDLE" convert A.mtx B.mtx --max-memory 10K
    [[ $stderr == *"raise --max-memory"* ]]
    [ ! -e B.mtx ]
}
