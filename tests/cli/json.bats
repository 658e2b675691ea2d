#!/usr/bin/env bats
# The JSON of saddle solve, against DESIGN's list of keys and against golden files.
load helper

KEYS="saddle matrix method krylov device precision threads converged reason iterations backward_error \
componentwise_error relative_residual forward_error first_error condition rank inertia time bytes factor tried history status message"

has_all_keys() {
    json "$1" "list(j) == '$KEYS'.split()"
    json "$1" 'list(j["matrix"]) == ["name", "n", "nnz", "symmetry", "kind"]'
    json "$1" 'list(j["inertia"]) == "positive negative zero certain negative_least negative_most doubt risk".split()'
    json "$1" 'list(j["time"]) == ["read", "prepare", "plan", "factor", "solve", "total"]'
    json "$1" 'list(j["bytes"]) == ["factor", "peak", "device", "offloaded"]'
    json "$1" 'list(j["factor"]) == ["nnz", "flops", "blocks", "block_size", "levels", "fronts",
        "largest_front", "two_by_two", "perturbed", "delayed", "pushed_back", "sweeps", "sweeps_exact", "fallback",
        "factorization", "planned_nnz", "planned_flops", "critical_flops", "planned_bytes", "largest_l", "stale", "block_kernel",
        "replaced_blocks", "single_blocks", "fill_tau", "generations", "pattern_residual", "reconstruction_error",
        "trisolve", "trisolve_sweeps", "trisolve_residual", "shift", "restarts", "dominance", "block_dominance", "replanned", "replans", "rescalings", "simplicial", "sequences", "waits", "profile"]'
    json "$1" 'list(j["factor"]["profile"]) == ["assembly", "factor", "contribution", "presolve", "other"] + [f"tiles_{k}" for k in range(9)]'
}

# golden NAME: compares NAME.json with the golden one, less what changes from run to run and from
# machine to machine. SADDLE_GOLDEN=write makes the golden ones anew.
golden() {
    python3 - "$1.json" > "$1.plain" <<'PY'
import json, sys
j = json.load(open(sys.argv[1]))
for key in j["time"]: j["time"][key] = None
for key in j["bytes"]: j["bytes"][key] = None
j["factor"]["planned_bytes"] = j["inertia"]["risk"] = None
j["saddle"] = j["threads"] = None
json.dump(j, sys.stdout, indent=1)
print()
PY
    [ "$SADDLE_GOLDEN" != write ] || cp "$1.plain" "$DATA/golden/$1.json"
    diff -u "$DATA/golden/$1.json" "$1.plain"
}

@test "golden: solved" {
    exact > A.mtx
    "$SADDLE" solve A.mtx -q --method diagonal --krylov gmres --device cpu --json solved.json
    golden solved
}

@test "golden: solved by the direct solver" {
    exact > A.mtx
    "$SADDLE" solve A.mtx -q --method direct --device cpu --scaling none --order natural --check --json direct.json
    golden direct
}

@test "golden: not solved" {
    exact > A.mtx
    "$SADDLE" solve A.mtx -q --method none --krylov minres --maxiter 0 --device cpu --json limit.json || [ $? -eq 1 ]
    golden limit
}

@test "golden: a file that is not there" {
    "$SADDLE" solve nowhere.mtx.gz -q --json missing.json || [ $? -eq 3 ]
    golden missing
}

@test "every key is there in its order, whatever the exit status" {
    diagonal > good.mtx
    matrix "coordinate real symmetric" "3 3 2" "1 1 2" "2 2 3" > singular.mtx
    matrix "coordinate real symmetric" "3 3 2" "1 1 2" "2 9 3" > bad.mtx
    while read -r expected arguments; do
        run --separate-stderr "$SADDLE" solve $arguments --json j.json
        [ "$status" -eq "$expected" ]
        is_json j.json
        has_all_keys j.json
        json j.json "j['status'] == $expected"
    done <<'LIST'
0 good.mtx --method diagonal
1 good.mtx --method none --maxiter 0
3 bad.mtx
3 nowhere.mtx
3 good.mtx --out nowhere/x.mtx
4 good.mtx --max-memory 100
6 singular.mtx --rhs ones
LIST
}

@test "--json - writes JSON and nothing else to standard output" {
    laplacian 8 0 > A.mtx
    "$SADDLE" solve A.mtx --json - > j.json
    is_json j.json
    "$SADDLE" solve A.mtx -v --method diagonal --maxiter 1 --json - > j.json || [ $? -eq 1 ]
    is_json j.json
    "$SADDLE" solve nowhere.mtx --json - > j.json 2> /dev/null || [ $? -eq 3 ]
    is_json j.json
}

@test "the history has a residual for each iteration, and ends with the one reported" {
    laplacian 12 0 > A.mtx
    "$SADDLE" solve A.mtx -q --method none --krylov cg --json j.json
    json j.json 'j["iterations"] > 5 and len(j["history"]) >= j["iterations"]'
    json j.json 'abs(j["history"][-1] - j["relative_residual"]) <= 1e-3 * j["relative_residual"]'
}

@test "the name of the matrix may hold anything" {
    diagonal > 'a "b" \ c.mtx'
    "$SADDLE" solve 'a "b" \ c.mtx' -q --method diagonal --json j.json
    json j.json 'j["matrix"]["name"] == "a \"b\" \\ c"'
    diagonal > $'\377\303.mtx'
    "$SADDLE" solve $'\377\303.mtx' -q --method diagonal --json j.json
    json j.json 'j["matrix"]["name"] == "\ufffd\ufffd"'
}

@test "numbers read back as they were" {
    for value in 0.30000000000000004 1.7976931348623157e+308 5e-324 0.1; do
        matrix "coordinate real symmetric" "1 1 1" "1 1 $value" > A.mtx
        "$SADDLE" info A.mtx -q --json j.json
        json j.json "j['norms']['one'] == $value"
    done
}
