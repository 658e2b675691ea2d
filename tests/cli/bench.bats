#!/usr/bin/env bats
# saddle bench: how the benchmarks are started; bench direct, and the peers' drivers that it takes turns with.
load helper

needs_peer() {
    [ -x "$PEERS/peer-$1" ] || skip "no driver of $1 was built (scripts/packages peers)"
}

# fake_peer NAME LINE...: a driver, in the folder peers, that reads no matrix: lines of a shell script.
fake_peer() {
    fake_program "peers/peer-$1" "${@:2}"
}

# alone FOLDER: the program in a folder of its own, in which no benchmarks are.
alone() {
    mkdir -p "$1"
    cp "$SADDLE" "$1/saddle"
}

@test "bench: where the benchmarks are not installed it says so" {
    alone bin
    for arguments in "bench" "bench read A.mtx" "bench --help" "help bench"; do
        # shellcheck disable=SC2086 # several words
        PATH=/usr/bin:/bin run -2 --separate-stderr bin/saddle $arguments
        [[ $stderr == *"saddle-bench"*"not installed"*"--component bench"* ]]
        [ -z "$output" ]
    done
}

@test "bench starts saddle-bench from beside itself, from ../libexec, from the PATH" {
    alone bin
    for place in path libexec bin; do
        fake_program $place/saddle-bench 'echo "'$place': $*"; exit 7'
        PATH=$PWD/path:$PATH run -7 bin/saddle bench read "A B.mtx" --json -
        [ "$output" = "$place: read A B.mtx --json -" ]
    done
    run -7 bin/saddle help bench
    [ "$output" = "bin: --help" ]
}

@test "bench direct without peers: JSON with every figure, those of the peers unknown" {
    run -0 "$SADDLE" bench direct lap2d_20 --peers none --repeat 2 --json j.json -q
    json j.json 'j["bench"] == "direct" and j["repeat"] == 2 and j["threads"] == 1'
    json j.json '[(r["name"], r["group"], r["n"], r["nnz"]) for r in j["rows"]] == [("lap2d_20", "generated", 400, 1920)]'
    json j.json '{"analysis", "factor", "solve", "solve_64", "delayed", "two_by_two", "negative", "peak_bytes",
        "backward_error", "backward_error_refined", "factor_ldlt", "factor_cholesky"} <= set(j["rows"][0]["saddle"])'
    json j.json 'all(not j["rows"][0][p]["ran"] and j["rows"][0][p]["factor"] is None for p in ("mumps", "cholmod"))'
    json j.json '{"factor_to_mumps", "total_to_mumps", "memory_to_mumps"} <= set(j["rows"][0]["ratios"])'
    json j.json 'j["summary"]["generated"]["factor_to_mumps"]["count"] == 0'
    json j.json 'j["rows"][0]["dgemm_gigaflops"] > 0'
}

@test "bench direct: figures of the direct solver" {
    run -0 --separate-stderr "$SADDLE" bench direct lap2d_30 lap2d_30:1.5 kktz_10 --peers none --repeat 2 --threads 2 --json j.json
    narrow 110 <<< "$output"
    json j.json 'all(r["saddle"]["error"] is None and r["saddle"]["factor"] > 0 for r in j["rows"])'
    json j.json 'all(r["saddle"]["backward_error"] < 1e-9 for r in j["rows"])'
    json j.json 'all(r["saddle"]["backward_error_refined"] < 1e-14 for r in j["rows"])'
    json j.json '[r["saddle"]["negative"] for r in j["rows"]][::2] == [0, 100]'
    json j.json '[r["saddle"]["factor_cholesky"] is None for r in j["rows"]] == [False, True, True]'
    json j.json 'all(r["ratios"]["speed_up"] > 0 for r in j["rows"])'
}

@test "bench direct: the peers that are found are measured, and nothing is left behind" {
    needs_peer mumps
    needs_peer cholmod
    TMPDIR=$PWD run -0 "$SADDLE" bench direct lap2d_60 kktz_10 --repeat 2 --json j.json
    [ "$(echo *)" = j.json ]
    json j.json 'all(r["mumps"]["ran"] and r["mumps"]["factor"] > 0 for r in j["rows"])'
    json j.json '[r["mumps"]["negative"] for r in j["rows"]] == [0, 100]'
    json j.json 'all(r["mumps"]["backward_error"] < 1e-9 for r in j["rows"])'
    json j.json 'j["rows"][0]["cholmod"]["ran"] and j["rows"][0]["cholmod"]["peak_bytes"] > 0'
    json j.json 'j["rows"][1]["cholmod"]["error"] == "not positive definite"'
    json j.json 'j["rows"][0]["mumps"]["version"].startswith("MUMPS ")'
}

@test "bench direct: peers that are not there are named, and a ratio is between answers" {
    mkdir none
    run -0 --separate-stderr "$SADDLE" bench direct lap2d_10 --repeat 1 --peers none
    [[ $output != *"not found"* ]]
    run -0 --separate-stderr "$SADDLE" bench direct lap2d_10 --repeat 1 --peers ./none
    [[ $output == *"not found: mumps, cholmod, pardiso, qdldl (no driver"* ]]
    for error in 1e-12 1e-3; do
        fake_peer pardiso 'echo "$*" >> arguments; echo ready; read word; echo turn; read word' \
            "echo '{\"peer\": \"pardiso\", \"analysis\": 2, \"factor\": 1, \"backward_error_refined\": $error}'"
        run -0 --separate-stderr "$SADDLE" bench direct lap2d_10 --repeat 1 --peers peers --json j$error.json
    done
    json j1e-12.json 'j["rows"][0]["ratios"]["factor_to_pardiso"] == j["rows"][0]["saddle"]["factor"]'
    json j1e-3.json 'j["rows"][0]["pardiso"]["factor"] == 1 and j["rows"][0]["ratios"]["factor_to_pardiso"] is None'
    [ "$(grep -c -- "--setting default" arguments)" -eq 2 ]
    [ "$(grep -c -- "--setting matching" arguments)" -eq 2 ]
}

@test "bench direct --part sparse: default and static beside QDLDL, on the same regularised matrix" {
    fake_peer qdldl 'cp "$1" seen.mtx; echo ready' 'while read word && [ "$word" = turn ]; do echo turn; done' \
        'echo "{\"peer\": \"qdldl\", \"factor\": 1e-6, \"solve_refined\": 2e-6, \"factor_nnz\": 100, \"backward_error_refined\": 1e-15}"'
    TMPDIR=$PWD run -0 --separate-stderr "$SADDLE" bench direct --part sparse ocp_4x2x1:0 mpc_2 --delta 1e-6 --repeat 2 --peers peers --json j.json
    narrow 110 <<< "$output"
    [[ $output == *"static"*"entries of L / QDLDL"* ]]
    [ "$(find . -name 'saddle-bench*' | wc -l)" -eq 0 ]
    json j.json 'j["part"] == "sparse" and [(r["n"], r["replaced"]) for r in j["rows"]] == [(20, 8), (36, 0)]'
    json j.json 'all(r[m]["error"] is None and r[m]["solve_error"] < 1e-14 and r[m]["parts_error"] < 1e-12
        for r in j["rows"] for m in ("default", "static"))'
    json j.json 'all(abs(r[m]["ratios"]["factor"] * 1e-6 / r[m]["factor"] - 1) < 1e-9 and r[m]["ratios"]["solve"] > 0
        and r[m]["ratios"]["parts"] > 0 for r in j["rows"] for m in ("default", "static"))'
    json j.json 'j["summary"]["all"]["static"]["factor_nnz"]["count"] == 2'
    [ "$(grep -v '^%' seen.mtx | awk 'NR > 1 && $1 == $2' | wc -l)" -eq 36 ]
    run -0 --separate-stderr "$SADDLE" bench direct --part sparse ocp_4x2x1 --repeat 1 --peers ./none --json j.json
    [[ $output == *"not found: qdldl"* ]]
    json j.json 'j["rows"][0]["default"]["factor"] > 0 and j["rows"][0]["default"]["ratios"]["factor"] is None'
    run -2 --separate-stderr "$SADDLE" bench direct --part sparse --anchors
}

@test "bench direct --part fronts: fronts, operations by kind, and what children contribute" {
    # A chain of 20 rows: fronts of 8, 8 and 4 columns, each of the first two handing one entry to the next.
    awk 'BEGIN { print "%%MatrixMarket matrix coordinate real symmetric\n20 20 39"
        for (i = 1; i <= 20; ++i) { print i, i, 2; if (i < 20) print i + 1, i, -1 } }' > chain.mtx
    run -0 --separate-stderr "$SADDLE" bench direct --part fronts chain.mtx lap3d_9 --order natural --json j.json
    narrow 132 <<< "$output"
    json j.json 'j["part"] == "fronts" and [r["name"] for r in j["rows"]] == ["chain", "lap3d_9"]'
    json j.json '((r := j["rows"][0]) and (r["fronts"], r["leaves"], r["largest"], r["factor_nnz"]) == (3, 1, 9, 98) and
        r["entries"] == {"all": 55, "none": 53, "one": 2, "several": 0, "waiting": 0} and
        (r["flops"]["assembly"], r["flops"]["contribution"]) == (2, 32))'
    # 7 to 0 columns are left of 8, each of them and of the row below is divided and updated; 3 to 0 of 4.
    json j.json '(j["rows"][0]["flops"]["factor"] == 2 * sum(left + 1 + left * (left + 1) + 2 * left for left in range(8))
        + sum(left + left * (left + 1) for left in range(4)))'
    json j.json '((r := j["rows"][1]) and sum(s["fronts"] for s in r["sizes"]) == r["fronts"] and
        abs(sum(s["flops"] for s in r["sizes"]) / (r["flops"]["factor"] + r["flops"]["contribution"]) - 1) < 1e-12 and
        r["entries"]["none"] + r["entries"]["one"] + r["entries"]["several"] == r["entries"]["all"] and
        0.5 < r["factor_nnz"] / r["planned"]["factor_nnz"] < 2 and 0.5 < sum(r["flops"].values()) / r["planned"]["flops"] < 2)'
    run -2 --separate-stderr "$SADDLE" bench direct --part fronts
    run -2 --separate-stderr "$SADDLE" bench direct --part fronts lap2d_5 --device cuda
}

@test "bench calls: every way of calling, beside QDLDL and dsysv" {
    for peer in qdldl lapack; do
        fake_peer $peer 'echo ready' 'while read word && [ "$word" = turn ]; do echo turn; done' \
            'echo "{\"peer\": \"fake\", \"factor\": 1e-6, \"solve\": 1e-6, \"solve_refined\": 3e-6, \"backward_error_refined\": 1e-15}"'
    done
    run -0 --separate-stderr "$SADDLE" bench calls ocp_2x2x1 mpc_1 --repeat 1 --peers peers --json j.json
    narrow 110 <<< "$output"
    json j.json 'j["bench"] == "calls" and [r["n"] for r in j["rows"]] == [10, 18]'
    json j.json 'all(r["certain"] and r["error"] is None for r in j["rows"])'
    json j.json 'all(r[way]["seconds"] > 0 and r[way]["backward_error"] < 1e-12 for r in j["rows"]
        for way in ("all", "uncertified", "unrefined", "parts", "static", "once"))'
    json j.json 'all(abs(r[way]["to_qdldl"] * whole / r[way]["seconds"] - 1) < 1e-9 for r in j["rows"]
        for way, whole in (("all", 4e-6), ("parts", 2e-6)))'
    run -0 --separate-stderr "$SADDLE" bench calls ocp_2x2x1 --repeat 1 --peers ./none --json j.json
    [[ $output == *"not found: qdldl, lapack"* ]]
    json j.json 'j["rows"][0]["all"]["to_qdldl"] is None and j["rows"][0]["all"]["seconds"] > 0'
    run -3 "$SADDLE" bench calls nowhere.mtx --peers none
}

@test "bench many: systems in one call beside a loop" {
    run -0 --separate-stderr "$SADDLE" bench many ocp_2x2x1 mpc_1 --repeat 1 --json j.json
    narrow 110 <<< "$output"
    json j.json 'j["bench"] == "many" and [r["n"] for r in j["rows"]] == [10, 18]'
    json j.json 'all(r[way] > 0 for r in j["rows"] for way in ("loop", "many", "two_threads"))'
    json j.json 'all(r["backward_error"] < 1e-15 for r in j["rows"])'
    run -3 "$SADDLE" bench many nowhere.mtx
    run -2 "$SADDLE" bench many
}

@test "bench direct: a peer that fails is a dash in the table" {
    fake_peer mumps 'echo ready; exit 1'
    run -0 --separate-stderr "$SADDLE" bench direct lap2d_10 --repeat 1 --peers peers --json j.json -v
    [[ $stderr == *"lap2d_10: mumps: ended without output"* ]]
    [[ $output == *" - "* ]]
    json j.json 'j["rows"][0]["mumps"] == dict.fromkeys(j["rows"][0]["mumps"]) | {"ran": False, "error": "ended without output"}'
    fake_peer cholmod 'echo ready; exec sleep 1000'
    run -0 --separate-stderr "$SADDLE" bench direct lap2d_10 --repeat 1 --peers peers --limit 1 --json j.json -v
    [[ $stderr == *"lap2d_10: cholmod: took too long"* ]]
    json j.json 'not j["rows"][0]["cholmod"]["ran"] and j["rows"][0]["saddle"]["factor"] > 0'
}

@test "bench direct takes turns with its peers and believes what they tell" {
    fake_peer mumps 'echo ready' 'turns=0' \
        'while read word && [ "$word" = turn ]; do turns=$((turns + 1)); echo turn; done' \
        'echo "{\"peer\": \"mumps\", \"version\": \"fake 1\", \"analysis\": 2, \"factor\": 0.5, \"negative\": null, \"delayed\": $turns}"'
    fake_peer cholmod 'echo "$OMP_NUM_THREADS $OPENBLAS_NUM_THREADS" > threads; echo ready; read word; echo nonsense'
    run -0 "$SADDLE" bench direct lap2d_10 --repeat 3 --threads 2 --peers peers --json j.json
    json j.json 'j["rows"][0]["mumps"]["factor"] == 0.5 and j["rows"][0]["mumps"]["delayed"] == 3'
    json j.json 'j["rows"][0]["mumps"]["negative"] is None and j["rows"][0]["mumps"]["ran"]'
    json j.json 'not j["rows"][0]["cholmod"]["ran"]'
    [ "$(cat threads)" = "2 2" ]
}

@test "bench sequence: the same matrices planned once, always, and as the solver decides" {
    run -0 --separate-stderr "$SADDLE" bench sequence lqr_12 kktz_8 --repeat 1 --steps --json j.json
    [[ $output == *"lqr_12"*"own:"*"own / better"* ]]
    narrow 110 <<< "$output"
    json j.json 'j["bench"] == "sequence" and [(r["name"], r["n"]) for r in j["rows"]] == [("lqr_12", 228), ("kktz_8", 128)]'
    json j.json 'all(len(r["steps"][w]) == 16 for r in j["rows"] for w in ("never", "always", "own"))'
    json j.json 'all(r["ratio"] > 0 and r["never"] > 0 and r["always"] > 0 for r in j["rows"])'
    json j.json 'all(s["backward_error"] < 1e-14 for r in j["rows"] for s in r["steps"]["own"])'
    json j.json 'all(s["replans"] == 0 for r in j["rows"] for s in r["steps"]["never"])'
    run -3 "$SADDLE" bench sequence nowhere.mtx --repeat 1
}

@test "bench direct: wrong usage, and a matrix that cannot be read" {
    run -2 --separate-stderr "$SADDLE" bench direct
    [[ $stderr == *"no matrix"* ]]
    run -2 "$SADDLE" bench read A.mtx --anchors
    run -2 "$SADDLE" bench prepare A.mtx --threads 2
    run -2 "$SADDLE" bench direct A.mtx --order order.txt
    run -3 --separate-stderr "$SADDLE" bench direct nowhere.mtx lap2d_5 --peers none --repeat 1 --json j.json
    [[ $stderr == *nowhere.mtx* ]]
    json j.json '[r["name"] for r in j["rows"]] == ["lap2d_5"]'
}

@test "bench direct ends its peers when it is interrupted" {
    fake_peer mumps 'echo $$ > pid; echo ready; exec sleep 1000'
    ends_its_driver bench direct lap2d_10 --repeat 1 --peers peers
}

@test "peers: the inertia of a KKT matrix and of small ones" {
    needs_peer mumps
    "$PEERS/peer-mumps" "$DATA/kkt/aug2dc_saddle.mtx.gz" --repeat 1 > j.json
    json j.json 'j["n"] == 30200 and j["negative"] == 10000 and j["backward_error"] < 1e-12'
    exact > A.mtx
    "$PEERS/peer-mumps" A.mtx --repeat 1 > j.json
    json j.json 'j["negative"] == 2 and j["delayed"] == 0'
    matrix "coordinate real symmetric" "2 2 1" "2 1 1" > A.mtx
    "$PEERS/peer-mumps" A.mtx --repeat 1 > j.json
    json j.json 'j["negative"] == 1 and j["two_by_two"] == 1'
}

@test "peers: an order by METIS, what is indefinite for CHOLMOD, and what is no matrix" {
    needs_peer mumps
    needs_peer cholmod
    laplacian 20 0 > A.mtx
    "$PEERS/peer-mumps" A.mtx --repeat 1 --setting metis > j.json
    json j.json 'j["ordering"] == "metis" and j["negative"] == 0 and j["backward_error"] < 1e-14'
    "$PEERS/peer-cholmod" A.mtx --repeat 1 > j.json
    json j.json 'j["ordering"] == "metis" and j["componentwise_error_random"] < 1e-12'
    laplacian 20 1 > A.mtx
    run -1 "$PEERS/peer-cholmod" A.mtx
    [[ $output == *"not positive definite"* ]]
    run -1 "$PEERS/peer-mumps" nowhere.mtx
    [[ $output == *nowhere.mtx* ]]
    run -2 "$PEERS/peer-mumps"
}

@test "peers: QDLDL on a regularised system, PARDISO with and without matching, dense LAPACK" {
    needs_peer qdldl
    needs_peer pardiso
    needs_peer lapack
    "$SADDLE" gen ocp 5 --out A.mtx
    for driver in "qdldl" "pardiso" "pardiso --setting matching" "lapack"; do
        # shellcheck disable=SC2086 # several words
        "$PEERS"/peer-${driver%% *} A.mtx --repeat 1 ${driver#"${driver%% *}"} > j.json
        json j.json 'j["n"] == 50 and j["negative"] in (20, None) and j["backward_error_refined"] < 1e-14'
        json j.json 'j["factor"] > 0 and j["solve_refined"] > 0 and j["factor_nnz"] > 0'
    done
    "$SADDLE" gen ocp 5 --param 0 --out A.mtx
    "$PEERS/peer-pardiso" A.mtx --repeat 1 --setting matching > j.json
    json j.json 'j["negative"] == 20 and j["backward_error"] < 1e-12'
    run -2 "$PEERS/peer-qdldl" A.mtx --setting matching
    matrix "coordinate real symmetric" "2 2 1" "2 1 1" > A.mtx
    run -1 "$PEERS/peer-qdldl" A.mtx
    [[ $output == *"error"* ]]
}

@test "auto: every method on every matrix, the share near the best, what is left out" {
    run -0 --separate-stderr "$SADDLE" bench auto lap2d_12 kktz_8 --threads 1 --grace 300 --json j.json
    [[ $output == *"auto within 1.25 of the best: "*" of 2 "* ]]
    json j.json '[r["name"] for r in j["rows"]] == ["lap2d_12", "kktz_8"]'
    json j.json 'all(r["outcome"]["auto"] == "solved" and r["seconds"]["direct"] > 0 and r["ratio"] > 0 for r in j["rows"])'
    json j.json 'all((r["seconds"][m] is None) == (r["outcome"][m] != "solved") for r in j["rows"] for m in r["seconds"])'
    # what solved nothing at a smaller size of the family is not tried at a larger one; auto always is
    run -0 --separate-stderr "$SADDLE" bench auto darcy3d_6 darcy3d_8 --threads 1 --grace 300 --json j.json
    json j.json 'j["rows"][0]["outcome"]["diagonal"] == "not to the tolerance"'
    json j.json 'j["rows"][1]["outcome"]["diagonal"].startswith("not tried") and j["rows"][1]["seconds"]["auto"] > 0'
    run -2 "$SADDLE" bench auto -
    run -3 "$SADDLE" bench auto not-there.mtx
}

@test "bench direct --all-peers: MUMPS for a kind of matrix, SSIDS, SuperLU, each by its settings" {
    for peer in mumps ssids superlu; do
        fake_peer $peer 'echo "$*" >> arguments; echo ready; read word; echo turn; read word' \
            "echo '{\"peer\": \"$peer\", \"analysis\": 2, \"factor\": 1, \"backward_error_refined\": 1e-15}'"
    done
    run -0 --separate-stderr "$SADDLE" bench direct lap2d_10 --repeat 1 --peers peers --json j.json
    [ "$(grep -c -- "--setting" arguments)" -eq 1 ]
    run -0 --separate-stderr "$SADDLE" bench direct lap2d_10 --repeat 1 --peers peers --all-peers --json j.json
    for setting in compressed posdef symmetric matching; do [ "$(grep -c -- "--setting $setting" arguments)" -eq 1 ]; done
    json j.json 'all(j["rows"][0][p]["factor"] == 1 for p in ("mumps", "mumps_posdef", "mumps_compressed", "ssids",
        "ssids_matching", "superlu", "superlu_symmetric"))'
    json j.json 'j["rows"][0]["saddle"]["certain"] == 1 and j["rows"][0]["saddle"]["reached"] == 1'
    json j.json 'j["rows"][0]["saddle"]["solve_refined"] > 0'
    run -2 "$SADDLE" bench direct --all-peers --part sparse
}

@test "drivers: MUMPS of positive definite matrices and of augmented systems, and what it refuses" {
    needs_peer mumps
    "$SADDLE" gen lap2d 20 --out spd.mtx -q
    "$SADDLE" gen kktz 10 --out kkt.mtx -q
    run -0 "$PEERS/peer-mumps" spd.mtx --setting posdef --repeat 1
    [[ $output == *'"negative": 0'* ]]
    run -1 "$PEERS/peer-mumps" kkt.mtx --setting posdef --repeat 1
    [[ $output == *'"error": "not positive definite"'* ]]
    run -0 "$PEERS/peer-mumps" kkt.mtx --setting compressed --repeat 1
    [[ $output == *'"negative": 100'* ]]
}

@test "drivers: SuperLU takes turns as the others do, and says what it cannot factor" {
    python3 -c 'import scipy' 2>/dev/null || /usr/bin/python3 -c 'import scipy' 2>/dev/null || skip "no SciPy: scripts/packages adapters"
    [ -x "$PEERS/peer-superlu" ] || skip "no drivers were built"
    "$SADDLE" gen kktz 10 --out kkt.mtx -q
    "$SADDLE" gen lap2d 20 --out spd.mtx -q
    run -1 "$PEERS/peer-superlu" kkt.mtx --setting symmetric --repeat 1
    [[ $output == *'"error": "not positive definite"'* ]]
    for given in "kkt.mtx default" "spd.mtx default" "spd.mtx symmetric"; do
        run -0 "$PEERS/peer-superlu" "${given% *}" --turns --setting "${given#* }" <<< $'turn\ntell'
        [ "${lines[0]} ${lines[1]}" = "ready turn" ]
        echo "${lines[2]}" > j.json
        json j.json '0 < j["factor"] and j["backward_error_refined"] < 1e-14 and j["factor_nnz"] > 200 and j["peak_bytes"] >= 0'
    done
    matrix "coordinate real symmetric" "2 2 1" "1 1 1" > singular.mtx
    run -1 "$PEERS/peer-superlu" singular.mtx --repeat 1
    [[ $output == *'"error": "'*singular* ]]
}
