#!/usr/bin/env bats
# saddle solve --method bjacobi: its options, its report, blocks that are singular, and the same bits.
load helper

# 30 unknowns in blocks of three, strongly coupled inside, weakly across; unsymmetric.
coupled() {
    awk 'BEGIN {
        print "%%MatrixMarket matrix coordinate real general"
        n = 30
        for (i = 1; i <= n; i++) for (j = 1; j <= n; j++) {
            same = int((i - 1) / 3) == int((j - 1) / 3)
            v = i == j ? 5 : same ? 2 + (i - j) / 3 : i - j == 3 || j - i == 3 ? -0.3 - i / 100 : 0
            if (v) line[++k] = i " " j " " v
        }
        print n, n, k
        for (i = 1; i <= k; i++) print line[i]
    }'
}

# [0 0 3; 0 0 ...]: in blocks of two of the natural order the second is zero.
zero_block() {
    matrix "coordinate real symmetric" "6 6 7" "1 1 4" "2 1 1" "2 2 4" "5 3 2" "6 4 2" "5 5 1" "6 6 1"
}

@test "every kernel solves, and the report says what was done" {
    coupled > A.mtx
    for kernel in auto huard huard-t jordan lu; do
        run -0 "$SADDLE" solve A.mtx --method bjacobi --block-kernel $kernel --blocking supervariables --block-size 3
        [[ $output == *$'\nmethod      bjacobi + gmres on cpu'* ]]
        [[ $output =~ $'\nblocks      10 of at most 3 rows, kernel '(huard|huard-t|jordan|lu)", 9.00e+01 entries" ]]
        narrow 96 <<< "$output"
    done
    laplacian 12 0 > S.mtx
    for kernel in auto ldlt llt; do
        run -0 "$SADDLE" solve S.mtx --method bjacobi --block-kernel $kernel
        [[ $output == *"bjacobi + cg on cpu"* ]]
    done
}

@test "blocks of pairs need no word about pairs, definite or not" {
    laplacian 12 0 > S.mtx
    for method in bjacobi ldlt; do
        run -0 --separate-stderr "$SADDLE" solve S.mtx --method $method --blocking pairs
        run -2 --separate-stderr "$SADDLE" solve S.mtx --method $method --blocking pairs --pairs off
        [[ $stderr == *"pairs cannot be off"* ]]
    done
}

@test "json tells kernel, blocks and precision" {
    coupled > A.mtx
    "$SADDLE" solve A.mtx -q --method bjacobi --block-size 3 --blocking grid --json j.json
    json j.json 'j["method"] == "bjacobi" and j["converged"] and j["factor"]["block_kernel"] == "huard"'
    json j.json 'j["factor"]["blocks"] == 10 and j["factor"]["block_size"] == 3 and j["factor"]["nnz"] == 90'
    json j.json 'j["factor"]["replaced_blocks"] == 0 and j["factor"]["single_blocks"] == 0'
    for precision in single adaptive; do
        "$SADDLE" solve A.mtx -q --method bjacobi --block-precision $precision --json j.json
        json j.json 'j["converged"] and j["factor"]["single_blocks"] == j["factor"]["blocks"]'
    done
    "$SADDLE" solve A.mtx -q --method diagonal --json j.json
    json j.json 'j["factor"]["block_kernel"] is None and j["factor"]["replaced_blocks"] is None'
}

@test "a singular block is told and replaced" {
    zero_block > A.mtx
    run -0 --separate-stderr "$SADDLE" solve A.mtx --method bjacobi --blocking grid --block-size 2 --pairs off --krylov gmres
    [[ $output == *"1 blocks could not be factored"* ]]
    [[ $stderr == *"1 of 3 blocks were replaced"*"1 singular"*"block 2"* ]]
    run -0 --separate-stderr "$SADDLE" solve A.mtx --method bjacobi --block-size 4
    [[ $output != *"could not be factored"* && -z $stderr ]]
}

@test "what does not go together is refused with what to do" {
    coupled > A.mtx
    run -2 --separate-stderr "$SADDLE" solve A.mtx --method bjacobi --block-kernel ldlt
    [[ $stderr == *ldlt*symmetric*huard* ]]
    run -2 --separate-stderr "$SADDLE" solve A.mtx --method bjacobi --threshold 0.1
    [[ $stderr == *"--threshold applies to the direct solver, not to --method bjacobi"* ]]
    run -2 --separate-stderr "$SADDLE" solve A.mtx --block-kernel huard
    [[ $stderr == *"--block-kernel applies to bjacobi, not to --method auto"* ]]
    run -2 "$SADDLE" solve A.mtx --method bjacobi --block-size 33
    run -2 "$SADDLE" solve A.mtx --method bjacobi --block-kernel qr
    run -2 "$SADDLE" solve A.mtx --method bjacobi --block-precision half
    laplacian 8 0 > S.mtx
    run -1 "$SADDLE" solve S.mtx --method bjacobi --block-kernel jordan --krylov cg
    [[ $output == *"preconditioner not symmetric"*"--block-kernel ldlt"* ]]
}

@test "the same bits at any number of threads; reference agrees" {
    "$SADDLE" gen elas3d 6 --out A.mtx -q
    for threads in 1 2 5; do
        "$SADDLE" solve A.mtx -q --method bjacobi --block-size 12 --threads $threads --out x$threads.mtx
    done
    cmp x1.mtx x2.mtx
    cmp x1.mtx x5.mtx
    "$SADDLE" solve A.mtx -q --method bjacobi --block-size 12 --json c.json
    "$SADDLE" solve A.mtx -q --method bjacobi --block-size 12 --device reference --json r.json
    python3 -c 'import json; c, r = (json.load(open(f)) for f in ("c.json", "r.json"))
assert abs(c["iterations"] - r["iterations"]) <= 2, (c["iterations"], r["iterations"])'
}

@test "blocks spare iterations where rows are strongly coupled" {
    coupled > A.mtx
    for size in 1 3; do
        "$SADDLE" solve A.mtx -q --method bjacobi --blocking supervariables --block-size $size --krylov bicgstab --json $size.json
    done
    python3 -c 'import json; a, b = (json.load(open(f))["iterations"] for f in ("1.json", "3.json"))
assert b < a, (a, b)'
}
