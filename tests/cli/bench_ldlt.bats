#!/usr/bin/env bats
# saddle bench ldlt: matrices, published ones, generated problems, ablation.
load helper

KKT=$DATA/kkt/aug2dc_saddle.mtx.gz

@test "bench ldlt: a row a matrix, every method beside the direct solver, as tables and JSON" {
    mkdir set
    laplacian 12 1.5 > set/shifted.mtx
    "$SADDLE" gen kktz 12 --out set/kktz.mtx -q
    run -0 --separate-stderr "$SADDLE" bench ldlt set stokes2d_8 --json j.json
    narrow 112 <<< "$output"
    [[ $output == *"goal 92 %"* && $output == *"goal: all that direct solves; 0 missed"* && $output == *"ldlt-none minus 5 %"* ]]
    json j.json 'j["bench"] == "ldlt" and j["part"] == "matrices" and j["threads"] == 1 and j["limit"] == 60'
    json j.json '[(r["name"], r["group"]) for r in j["rows"]] == [("kktz", "set"), ("shifted", "set"), ("stokes2d_8", "generated")]'
    json j.json 'all(set(r["methods"]) == {"ldlt", "ldlt-none", "jacobi", "paper", "auto", "direct"} for r in j["rows"])'
    json j.json 'all(r["methods"][m]["solved"] for r in j["rows"] for m in ("ldlt", "auto", "direct"))'
    json j.json 'all(s["backward_error"] <= 1e-12 and s["iterations"] <= 100 and s["solve"] > 0
        for r in j["rows"] for s in r["methods"]["ldlt"]["right_hand_sides"])'
    json j.json 'all(len(r["methods"]["ldlt"]["right_hand_sides"]) == 2 and r["methods"]["ldlt"]["stored"] > 0 and
        r["methods"]["ldlt"]["levels"] > 0 and r["methods"]["ldlt"]["tau"] > 0 for r in j["rows"])'
    json j.json 'j["totals"]["ldlt"]["solved"] == 3 and j["totals"]["auto"]["missed"] == 0'
    json j.json 'all(j["totals"][m]["of"] == 3 and j["totals"][m]["solved"] ==
        sum(r["methods"][m]["solved"] for r in j["rows"]) for m in j["totals"])'
}

@test "bench ldlt --methods runs only what is named; a folder is found by SADDLE_MATRICES" {
    mkdir -p all/indefinite all/kkt
    cp "$KKT" all/kkt
    laplacian 10 1.5 > all/indefinite/shifted.mtx
    echo "not a matrix" > all/kkt/README
    SADDLE_MATRICES=all run -0 "$SADDLE" bench ldlt --methods ldlt,direct --json j.json -q
    [ -z "$output" ]
    json j.json '[r["name"] for r in j["rows"]] == ["shifted", "aug2dc_saddle"]'
    json j.json 'all(set(r["methods"]) == {"ldlt", "direct"} and r["methods"]["ldlt"]["solved"] for r in j["rows"])'
    json j.json 'set(j["totals"]) == {"ldlt", "direct"}'
}

@test "bench ldlt: a run that is not over in time says so, and the next ones go on" {
    # Seconds of a core: the first takes a hundred times as many, the second a thousandth.
    run -0 "$SADDLE" bench ldlt lap3d_60:0.5 lap2d_5 --methods ldlt --limit 1 --json j.json
    [[ $output == *"took over 1 s"* ]]
    json j.json '[r["methods"]["ldlt"]["solved"] for r in j["rows"]] == [False, True]'
}

@test "bench ldlt --part anchors takes those that have published figures" {
    laplacian 10 1.5 > tuma2.mtx
    laplacian 10 1.5 > other.mtx
    run -0 "$SADDLE" bench ldlt --part anchors tuma2.mtx other.mtx --methods ldlt --json j.json
    [[ $output == *"SYM-ILDL"* ]]
    grep -qE '^tuma2 .* no more  met$' <<< "$output"
    json j.json '[r["name"] for r in j["rows"]] == ["tuma2"] and j["rows"][0]["ldlt_to_residual"]["solved"]'
    json j.json 'all(s["iterations"] <= 28 for s in j["rows"][0]["ldlt_to_residual"]["right_hand_sides"])'
    laplacian 40 4 > tuma2.mtx # singular: not to be solved for a random right-hand side
    run -0 "$SADDLE" bench ldlt --part anchors tuma2.mtx --methods ldlt --json j.json
    grep -qE '^tuma2 .* no more  NOT met$' <<< "$output"
    json j.json 'not j["rows"][0]["ldlt_to_residual"]["solved"]'
    run -3 --separate-stderr "$SADDLE" bench ldlt --part anchors other.mtx
    [[ $stderr == *"published"* ]]
}

@test "bench ldlt --part backends: iterations of every backend, first and again, beside each other" {
    run -0 --separate-stderr "$SADDLE" bench ldlt --part backends stokes2d_8 lap2d_20:1.5 ipm_500:8 --json j.json
    narrow 112 <<< "$output"
    [[ $output == *"cpu first against reference first"* && $output == *"cpu again against its first"* ]]
    json j.json 'j["part"] == "backends" and [r["n"] for r in j["rows"]] == [175, 400, 750]'
    json j.json 'all(set(r["backends"]) >= {"reference", "cpu"} and len(r["backends"]["cpu"][m]["right_hand_sides"]) == 2
        for r in j["rows"] for m in ("first", "again"))'
    json j.json '("cuda" in j["rows"][0]["backends"]) != ("cuda" in j["left_out"])'
    # What is said of every comparison is what the rows hold.
    json j.json '((count := lambda r, b, m, k: r["backends"][b][m]["right_hand_sides"][k]["iterations"]) and
        (apart := lambda one, two: abs(one - two) > (2 if two < 50 else 0.1 * two)) and
        all(c["compared"] == 6 and c["within"] + len(c["outliers"]) == 6 and len(c["outliers"]) ==
            sum(apart(count(r, c["backend"], c["moment"], k), count(r, c["beside_backend"], c["beside_moment"], k))
                for r in j["rows"] for k in (0, 1)) for c in j["comparisons"]))'
    json j.json 'all(c["solved"] == 6 and c["within"] == 6 for c in j["comparisons"])'
    # One that is not here is left out, and said; alone it is nothing to compare.
    run -0 env SADDLE_CUDA_MODULE=nowhere.so "$SADDLE" bench ldlt --part backends lap2d_5 --methods cpu,cuda
    [[ $output == *"without cuda: "* && $output != *"reference"* ]]
    run -3 env SADDLE_CUDA_MODULE=nowhere.so "$SADDLE" bench ldlt --part backends lap2d_5 --methods cuda
    run -0 "$SADDLE" bench ldlt --part backends lap3d_60:0.5 --methods cpu --limit 1 --json j.json
    [[ $output == *"cpu first: took over 1 s"* ]]
    json j.json 'j["comparisons"][0]["compared"] == 0'
}

@test "bench ldlt --part setup and growth: generated problems, ratios and exponents" {
    run -0 --separate-stderr "$SADDLE" bench ldlt --part setup --size 1000 lap3d darcy3d:1 --json j.json
    json j.json '[r["family"] for r in j["rows"]] == ["lap3d", "darcy3d:1"] and all(r["n"] >= 1000 for r in j["rows"])'
    json j.json 'all(r["ldlt"]["solved"] and r["direct"]["solved"] and r["times_as_fast_as_factor"] >= 0 and
        r["bytes_ratio"] > 0 for r in j["rows"])'
    run -0 --separate-stderr "$SADDLE" bench ldlt --part growth --size 61000 lap2d --json j.json
    [[ $output == *"exponents"* && $output == *"1.5"* ]]
    json j.json '[r["n"] >= 30500 * 2 ** k for k, r in enumerate(j["rows"])] == [True, True]'
    json j.json 'len(j["exponents"]) == 1 and isinstance(j["exponents"][0]["setup"], float) and j["exponents"][0]["total_goal"] == 1.5'
}

@test "bench ldlt --ablate: every figure as tables and JSON" {
    "$SADDLE" gen kktz 8 --out mario001.mtx -q
    run -0 --separate-stderr "$SADDLE" bench ldlt --ablate mario001.mtx lap2d_8 --json j.json
    narrow 112 <<< "$output"
    for figure in 3a 3b 3c 3d 3e 3f "Table I"; do [[ $output == *"$figure"* ]]; done
    json j.json 'j["part"] == "ablate" and len(j["rows"]) == 2'
    json j.json 'all(len(r["jacobi"]["epsilon"]) == 4 and len(r["ldlt"]["block_size"]) == 6 and
        len(r["sweeps"]["row"]["error"]) == 16 and len(r["dominance_grid"]) == 3 for r in j["rows"])'
    json j.json 'all(e is not None for r in j["rows"] for m in ("jacobi", "ldlt") for e in r[m]["epsilon"])'
    json j.json 'all(r["defaults"]["backward_error"] < 1e-12 for r in j["rows"])'
}

@test "bench ldlt: wrong usage, and a matrix that cannot be read" {
    for wrong in "--methods ldlt,nothing lap2d_5" "--part kernels lap2d_5" "--ablate --part growth" "--size 5 lap2d_5" \
        "--plot p.png lap2d_5" "--methods ldlt --part setup" "--part growth nofamily" "--part backends --device cpu lap2d_5" "--part backends --methods direct lap2d_5" "--part symildl --methods ldlt lap2d_5" "--part symildl --plot p.png lap2d_5" "--peers none lap2d_5" "--repeat 3 lap2d_5" "--kernel ldu lap2d_5"; do
        run -2 "$SADDLE" bench ldlt $wrong
    done
    run -2 env -u SADDLE_MATRICES "$SADDLE" bench ldlt
    [[ $output == *"SADDLE_MATRICES"* ]]
    run -2 "$SADDLE" bench blocks --part growth
    run -2 "$SADDLE" bench blocks --size 33
    run -2 "$SADDLE" bench direct lap2d_5 --methods ldlt
    diagonal > A.mtx
    run -2 "$SADDLE" bench ldlt A.mtx --json A.mtx
    run -3 --separate-stderr "$SADDLE" bench ldlt nowhere.mtx lap2d_5 --methods ldlt --json j.json
    [[ $stderr == *"nowhere.mtx"* ]]
    json j.json '[r["name"] for r in j["rows"]] == ["lap2d_5"]'
}
