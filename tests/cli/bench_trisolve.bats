#!/usr/bin/env bats
# saddle bench trisolve: incomplete factorizations with exact and swept triangular solves.
load helper

# general N: a convection-diffusion matrix on an N x N grid, not symmetric.
general() {
    awk -v n="$1" 'BEGIN {
        print "%%MatrixMarket matrix coordinate real general"
        print n * n, n * n, n * n + 4 * n * (n - 1)
        for (i = 0; i < n; i++) for (j = 0; j < n; j++) {
            k = i * n + j + 1
            print k, k, 4
            if (j + 1 < n) { print k + 1, k, -1.4; print k, k + 1, -0.6 }
            if (i + 1 < n) { print k + n, k, -1.2; print k, k + n, -0.8 }
        }
    }'
}

@test "bench trisolve: matrices by settings, as tables and JSON" {
    general 12 > general.mtx
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_20 general.mtx --json j.json
    narrow 132 <<< "$output"
    [[ $output == *"apply ms"* && $output == *"lap2d_20: n = 400"* ]]
    json j.json 'j["bench"] == "trisolve" and j["parts"] == ["settings"] and j["threads"] == 1 and not j["scaled"]'
    json j.json '[(r["name"], r["n"]) for r in j["settings"]] == [("lap2d_20", 400), ("general", 144)]'
    json j.json '(all(len(r["settings"]) == 11 and s["solved"] and s["relative_residual"] <= 1e-6
        for r in j["settings"] for s in r["settings"].values()))'
    json j.json '[{s["method"] for s in r["settings"].values()} for r in j["settings"]] == [{"ic"}, {"ilu"}]'
    json j.json 'all(s["krylov"] in ("cg", "fcg") for s in j["settings"][0]["settings"].values())'
    json j.json '(all((s["trisolve"] == "exact") == ("trisolve=exact" in text) for r in j["settings"]
        for text, s in r["settings"].items() if "auto" not in text))'
    json j.json '(all(s["trisolve_sweeps"] == 3 and 0 < s["trisolve_residual"] < 1 for r in j["settings"]
        for text, s in r["settings"].items() if "sweeps=3" in text))'
    # A higher level has more entries, and takes fewer iterations with exact solves.
    json j.json '(all(r["settings"]["level=1 trisolve=exact"][key] * less > r["settings"]["level=0 trisolve=exact"][key] * less
        for r in j["settings"] for key, less in (("factor_nnz", 1), ("iterations", -1))))'
}

@test "bench trisolve --settings: what is asked for, with the options of the command line" {
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_10 --json j.json --tol 1e-9 --maxiter 50 \
        --settings "level=2 trisolve=exact; method=diagonal;level=0 trisolve=block-jacobi blocking=cosine block_size=6 trisolve_sweeps=2"
    json j.json '(list(j["settings"][0]["settings"]) == ["level=2 trisolve=exact", "method=diagonal",
        "level=0 trisolve=block-jacobi blocking=cosine block_size=6 trisolve_sweeps=2"])'
    json j.json 'all(s["solved"] and s["relative_residual"] <= 1e-9 for s in j["settings"][0]["settings"].values())'
    json j.json 'j["settings"][0]["settings"]["method=diagonal"]["method"] == "diagonal"'
    # The same run twice gives the same, except for times.
    "$SADDLE" bench trisolve lap2d_10 --json k.json --settings "trisolve=jacobi trisolve_sweeps=2" --maxiter 2 -q
    json k.json '((s := j["settings"][0]["settings"]["trisolve=jacobi trisolve_sweeps=2"]) and not s["solved"] and
        s["why"] == "iteration limit" and s["iterations"] == 2)'
}

@test "bench trisolve --part figure1,figure3,figure4,figure5: curves over the number of sweeps" {
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_16 --part figure1,figure3,figure4,figure5 --most 12 --json j.json
    narrow 132 <<< "$output"
    for figure in 1 3 4 5; do [[ $output == *"figure$figure, lap2d_16"* ]]; done
    json j.json '([[(s["level"], s["block_size"]) for s in j[f][0]["series"]] for f in ("figure1", "figure3", "figure4", "figure5")] ==
        [[(0, 0)], [(1, 0), (1, 6), (1, 12), (1, 24)], [(1, 6), (1, 12), (1, 24)], [(0, 0), (1, 0), (2, 0), (3, 0)]])'
    json j.json 'all([p["sweeps"] for p in s["sweeps"]] == list(range(1, 13)) for f in j["parts"] for s in j[f][0]["series"])'
    # Sweeps come to the exact solve: the residual falls, the iterations end at those of exact solves.
    json j.json '(all(s["sweeps"][-1]["trisolve_residual"] < 0.1 * s["sweeps"][0]["trisolve_residual"]
        for f in j["parts"] for s in j[f][0]["series"]))'
    json j.json '(all(abs(s["sweeps"][-1]["iterations"] - s["exact"]["iterations"]) <= 1 and s["sweeps"][0]["iterations"] > s["exact"]["iterations"]
        for f in ("figure1", "figure4", "figure5") for s in j[f][0]["series"]))'
    json j.json 'all(p["iterations"] is None for s in j["figure3"][0]["series"] for p in s["sweeps"])'
}

@test "bench trisolve --part table1: what sweeps solve of what exact solves solve" {
    mkdir set
    laplacian 15 0 > set/easy.mtx
    laplacian 15 4 > set/indefinite.mtx
    general 5 > set/general.mtx
    run -0 --separate-stderr "$SADDLE" bench trisolve set elas3d_4 --part table1 --json j.json
    narrow 132 <<< "$output"
    [[ $output == *"Table 1"* && $output == *"IC(1)"* ]]
    [[ $stderr == *"2 of 4"* ]]
    json j.json '([(r["name"], r["level"]) for r in j["table1"]["rows"]] ==
        [(n, k) for n in ("easy", "indefinite", "elas3d_4") for k in (0, 1)])'
    json j.json 'all(r["exact"]["solved"] for r in j["table1"]["rows"] if r["name"] != "indefinite")'
    json j.json '(all(r[w]["solved"] and r[w]["relative_residual"] <= 1e-6 and 1 <= r[w]["sweeps"] <= 20
        for r in j["table1"]["rows"] if r["name"] == "easy" for w in ("entries", "blocks_12", "best_12", "blocks_24", "best_24")))'
    json j.json '(all(r["entries"]["blocking"] is None and r["blocks_12"]["blocking"] == "adjacent"
        for r in j["table1"]["rows"] if r["name"] == "easy"))'
    # The counts are those of the rows; without those that needed a shift, and with them.
    json j.json '(all(c[w] == sum(r[w]["solved"] for r in j["table1"]["rows"] if r["level"] == c["level"] and r["exact"]["solved"]
            and (c["with_shifted"] or not r["shifted"])) for c in j["table1"]["counts"] for w in ("exact", "entries", "best_12")))'
    json j.json '[(c["level"], c["with_shifted"]) for c in j["table1"]["counts"]] == [(0, False), (0, True), (1, False), (1, True)]'
}

@test "bench trisolve --part figure6,figure7: the fastest number of sweeps, and the speed-ups" {
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_8 lap2d_12 --part figure6,figure7 --most 4 --levels 0 --json j.json
    [[ $output == *"Figure 6"* && $output == *"Figure 7"* && $output != *"Table 1"* ]]
    json j.json '[f["way"] for f in j["table1"]["figures6and7"]] == ["entries", "blocks_12", "best_12"]'
    json j.json '(all(len(f["matrices_by_sweeps"]) == 4 and sum(f["matrices_by_sweeps"]) == 2 and len(f["speedups"]) == 2 and
        f["speedups"][0] >= f["speedups"][1] > 0 for f in j["table1"]["figures6and7"]))'
    json j.json '(all(r["entries"]["tries"] == 4 and r["best_12"]["tries"] == 32 and r["exact"]["solve"] > 0 and
        r["best_12"]["solve"] <= r["blocks_12"]["solve"] for r in j["table1"]["rows"]))'
}

@test "bench trisolve --ways: nothing else is tried, and nothing is said of the others" {
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_8 --part table1,figure6 --ways entries,best_12 --most 3 --levels 0 --json j.json
    [[ $output == *"over entries"* && $output == *"best blocking, 12"* && $output != *"best blocking, 24"* ]]
    # The best blocking begins with adjacent rows.
    json j.json 'set(j["table1"]["rows"][0]) & {"entries", "blocks_12", "best_12", "blocks_24", "best_24"} == {"entries", "blocks_12", "best_12"}'
    json j.json '(all((c[w] is None) == w.endswith("_24") for c in j["table1"]["counts"]
        for w in ("entries", "blocks_12", "best_12", "blocks_24", "best_24")))'
    run -2 --separate-stderr "$SADDLE" bench trisolve lap2d_8 --part table1 --ways most
    [[ $stderr == *'--ways: there is no "most"'* ]]
    run -2 --separate-stderr "$SADDLE" bench trisolve lap2d_8 --ways entries
}

@test "bench trisolve --part figure8,tables2to5,figure9: dominance, and orders that come with blockings" {
    run -0 --separate-stderr "$SADDLE" bench trisolve elas3d_4 --part figure8,tables2to5,figure9 --most 5 --json j.json
    narrow 132 <<< "$output"
    json j.json 'all(v["rows"] > 0 and v["blocks"] > 0 for v in j["figure8"]["rows"][0]["levels"])'
    json j.json '(j["figure8"]["grown_by_rows"] == {"count": int(j["figure8"]["rows"][0]["levels"][1]["rows"] >=
        j["figure8"]["rows"][0]["levels"][0]["rows"]), "of": 1})'
    json j.json '([(o["level"], o["order"]) for o in j["tables2to5"][0]["orders"]] ==
        [(k, o) for k in (0, 1) for o in ("RCM", "PB", "PBD", "METIS")])'
    json j.json 'all(len(o["sweeps"]) == 5 and o["exact"]["solved"] and o["exact"]["levels"] > 0 for o in j["tables2to5"][0]["orders"])'
    json j.json '(all(o["best_sweeps"] == min((p["solve"], p["sweeps"]) for p in o["sweeps"] if p["solve"] is not None)[1]
        for o in j["tables2to5"][0]["orders"] if o["best_sweeps"]))'
    # Another blocking is another order, with exact solves too.
    json j.json 'len({o["exact"]["levels"] for o in j["tables2to5"][0]["orders"] if o["level"] == 0}) > 1'
}

@test "bench trisolve --part auto: beside the best of all that can be named" {
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_12 --part auto --levels 0 --json j.json
    [[ $output == *"auto within 1.2 of the best: "* ]]
    json j.json '((r := j["auto"]["rows"][0]) and r["auto"]["solved"] and r["best"]["solved"] and r["tries"] == 102 and
        abs(r["ratio"] - r["auto"]["total"] / r["best"]["total"]) < 1e-6)'
    json j.json 'j["auto"]["of"] == 1 and j["auto"]["within"] == int(j["auto"]["rows"][0]["ratio"] <= 1.2)'
}

@test "bench trisolve --part unsymmetric: beside spilu with no more entries, where there is SciPy" {
    general 12 > general.mtx
    fake_program peers/peer-spilu 'echo "$*" > asked' 'for k in 1 2 3; do' \
        'echo "{\"version\": \"1.2\", \"nnz\": 500, \"iterations\": 9, \"setup\": 0.5, \"solve\": 0.25, \"relative_residual\": 1e-${k}0}"' done
    run -0 --separate-stderr "$SADDLE" bench trisolve general.mtx lap2d_5 --part unsymmetric --peers peers --restart 30 --json j.json
    narrow 132 <<< "$output"
    [[ $output == *"spilu: SciPy 1.2"* ]]
    json j.json '[r["name"] for r in j["unsymmetric"]["rows"]] == ["general"]'
    json j.json '(all(j["unsymmetric"]["rows"][0][f]["saddle"]["solved"] and j["unsymmetric"]["rows"][0][f]["spilu"]["iterations"] == 9
        for f in ("ilu0", "ilu1", "ilut")))'
    json j.json '(all(s == {"saddle": 1, "of": 1, "spilu": 1, "spilu_of": 1, "only_saddle": 0, "only_spilu": 0}
        for s in j["unsymmetric"]["solved"].values()))'
    # It may have as many entries as Saddle has, and the same GMRES.
    most=$(python3 -c 'import json; r = json.load(open("j.json"))["unsymmetric"]["rows"][0]
print(",".join(str(r[f]["saddle"]["factor_nnz"]) for f in ("ilu0", "ilu1", "ilut")))')
    [[ $(cat asked) == *" --most $most --restart 30 --maxiter 1000 "* ]]
    run -0 --separate-stderr "$SADDLE" bench trisolve general.mtx --part unsymmetric --peers none --json j.json
    [[ $output == *"spilu was not run"* ]]
    json j.json 'all(s["saddle"] == 1 and s["spilu_of"] == 0 for s in j["unsymmetric"]["solved"].values())'
}

@test "bench trisolve --part cusparse: beside csric02 and SpSV, with the level and the goal of ours" {
    fake_program peers/peer-cusparse 'echo "$*" >> asked' \
        'echo "{\"version\": \"12\", \"analysis\": 0.5, \"factor\": 0.1, \"solve_analysis\": 0.25, \"apply\": 1e-3, \"product\": 2e-4, \"product_lower\": 1e-4, \"iterations\": 9, \"solve\": 0.25, \"relative_residual\": 1e-7}"'
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_9 --part cusparse --levels 0,2 --tol 1e-7 --peers peers --json j.json
    narrow 132 <<< "$output"
    [[ $output == *"lap2d_9, IC(2)"*"cuSPARSE "*" 9 "*"0.750"*"Geometric means"* ]]
    [ "$(sed 's/ --tol .*//' asked)" = "lap2d_9 --level 0 --order rcm --maxiter 3000"$'\n'"lap2d_9 --level 2 --order rcm --maxiter 3000" ]
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_9 --part cusparse --order natural --peers peers
    [[ $(tail -n 1 asked) == *" --order natural "* ]]
    json j.json '(all(r[k]["solved"] for r in j["cusparse"] for k in ("exact", "few", "many", "blocks", "auto", "cpu"))
        and [r["level"] for r in j["cusparse"]] == [0, 2] and all(r["cusparse"]["iterations"] == 9 for r in j["cusparse"]))'
    run -0 --separate-stderr "$SADDLE" bench trisolve lap2d_9 --part cusparse --peers none --json j.json
    [[ $output == *"cuSPARSE "*"is not there"* ]]
    json j.json 'j["cusparse"][0]["cusparse"]["solve"] is None'
}

@test "the driver of spilu: factors within the fill, a residual that is measured" {
    [ -x "$PEERS/peer-spilu" ] || skip "drivers of peers are not built"
    "$PEERS/peer-spilu" --help > help 2>&1 || skip "$(cat help)"
    general 12 > general.mtx
    "$PEERS/peer-spilu" general.mtx --most 700,5000 > lines
    python3 - <<'P'
import json
few, many = map(json.loads, open("lines"))
assert few["nnz"] <= 700 and many["nnz"] <= 5000 and few["nnz"] < many["nnz"]
assert many["relative_residual"] <= 1e-6 and many["iterations"] <= few["iterations"]
P
}

@test "bench trisolve: what takes too long is stopped and said" {
    run -0 --separate-stderr "$SADDLE" bench trisolve lap3d_40 --part table1 --levels 0 --limit 0.1 --json j.json
    json j.json '(j["limit"] == 0.1 and (r := j["table1"]["rows"][0]) and
        (r["exact"]["why"] == "took too long" or any(r[w]["late"] for w in ("entries", "best_12"))))'
}

@test "bench trisolve --scaled: the system is scaled first, as in the paper" {
    matrix "coordinate real symmetric" "3 3 5" "1 1 1e8" "2 2 4" "3 3 1e-4" "2 1 100" "3 2 0.001" > A.mtx
    for flag in "" --scaled; do
        "$SADDLE" bench trisolve A.mtx $flag --settings "level=0 trisolve=exact" --json "j$flag.json" -q
    done
    json j--scaled.json 'j["scaled"] and j["settings"][0]["settings"]["level=0 trisolve=exact"]["solved"]'
    json j.json 'not j["scaled"] and j["settings"][0]["settings"]["level=0 trisolve=exact"]["solved"]'
}

@test "bench trisolve: wrong usage, and a matrix that cannot be read" {
    for wrong in "--part nothing lap2d_5" "--part table1,fig lap2d_5" "--settings level lap2d_5" "--settings level=x lap2d_5" \
        "--settings ; lap2d_5" "--levels a lap2d_5" "--levels 0,300 lap2d_5" "--best lap2d_5" "--peers none lap2d_5" \
        "--part table1 --settings level=1 lap2d_5" "--plot p.jpg lap2d_5" "--order file.txt lap2d_5" -; do
        run -2 "$SADDLE" bench trisolve $wrong
    done
    run -2 env -u SADDLE_MATRICES "$SADDLE" bench trisolve
    [[ $output == *"SADDLE_MATRICES"* ]]
    run -3 --separate-stderr "$SADDLE" bench trisolve nowhere.mtx lap2d_5 --settings "level=0" --json j.json
    [[ $stderr == *"nowhere.mtx"* ]]
    json j.json '[r["name"] for r in j["settings"]] == ["lap2d_5"]'
    run -3 "$SADDLE" bench trisolve lap2d_5 --part unsymmetric
    [[ $output == *"none of the matrices"* ]]
}
