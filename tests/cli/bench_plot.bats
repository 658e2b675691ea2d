#!/usr/bin/env bats
# The pictures of saddle bench, drawn by a script from the JSON.
load helper

PLOT=${SADDLE%/*}/saddle-bench-plot

needs_matplotlib() {
    python3 -c 'import matplotlib' 2>/dev/null || /usr/bin/python3 -c 'import matplotlib' 2>/dev/null ||
        skip "no matplotlib (scripts/packages plots installs it)"
}

# panels FILE TITLE...: an SVG that is whole and has a panel for each of these titles.
panels() {
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "$1"
    for title in "${@:2}"; do grep -qF "$title" "$1" || { echo "no panel: $title"; return 1; }; done
}

# blocks_json: what bench blocks writes of four kernels, a copy and a peer, and of two matrices.
blocks_json() {
    python3 - <<'E'
import json
rows = [dict(part=part, work=work, who=who, name=name, version="default", precision=precision, size=size, batch=batch,
             rows=size * batch, seconds=1e-6 * size, nanoseconds_a_block=5.0 * size, peer="getrf", times_as_fast=2.5)
        for part, work, who, name in (("kernels", "factor", "saddle", "jordan"), ("kernels", "copy", "machine", "copy"),
                                      ("kernels", "factor", "lapack", "getrf"), ("apply", "apply", "saddle", "huard"),
                                      ("setup", "factor", "saddle", "huard-t"))
        for precision in ("double", "single") for size in (16, 32) for batch in (100, 1000)]
solves = [dict(matrix=m, kernel=k, block_size=s, solved=True, iterations=10 + len(k), factor=1e-3, solve=2e-3)
          for m in ("one", "two") for k in ("jordan", "huard", "huard-t") for s in (16, 32)]
print(json.dumps(dict(saddle="0", commit="0", bench="blocks", machine=None, device="cpu", rows=rows, solves=solves)))
E
}

@test "the picture of bench blocks: a panel for every curve that was measured" {
    needs_matplotlib
    blocks_json > j.json
    "$PLOT" j.json p.svg
    panels p.svg "Kernels in double, 1,000 blocks" "Kernels in single, 1,000 blocks" "Application in double" \
        "Application in single" "Setup in double, 16 rows" "Setup in double, 32 rows" "setup and solve, blocks of 16" \
        "quickest matrices, blocks of 32" "iterations of huard compared with jordan"
    [ "$(echo *)" = "j.json p.svg" ]
}

@test "bench blocks --plot: a picture beside the JSON and without one" {
    needs_matplotlib
    export TMPDIR=$PWD
    "$SADDLE" bench blocks lap2d_20 elas3d_3 --block-size 16 --json j.json --plot p.svg -q
    panels p.svg "setup and solve, blocks of 16" "quickest matrices" lap2d_20 elas3d_3
    "$SADDLE" bench blocks lap2d_20 --block-size 16 --json - --plot q.png > k.json
    is_json k.json
    [ "$(head -c 4 q.png | tail -c 3)" = PNG ]
    [ "$(echo *)" = "j.json k.json p.svg q.png" ]
}

@test "bench ldlt --plot: the panels of --ablate and of --part backends" {
    needs_matplotlib
    "$SADDLE" bench ldlt --ablate lap2d_8 --plot a.svg -q
    panels a.svg 3a: 3b: 3c: 3d: 3e: 3f: "Table I:" lap2d_8
    "$SADDLE" bench ldlt --part backends lap2d_8 --methods reference,cpu --plot b.svg -q
    panels b.svg "Iterations: 2 of 2 within"
}

@test "the picture of bench ldlt --part growth: a curve a family, with its exponent" {
    needs_matplotlib
    python3 - > j.json <<'E'
import json
rows = [dict(family=f, nnz=n, ldlt=dict(solved=n < 1e6, analysis=1e-6 * n, factor=2e-6 * n, right_hand_sides=[dict(solve=1e-6 * n)]))
        for f in ("lap2d", "lap3d:0.5") for n in (150000, 320000, 1500000)]
exponents = [dict(family="lap2d", setup=1.0, total=1.25), dict(family="lap3d:0.5", setup=None, total=None)]
print(json.dumps(dict(saddle="0", commit="0", bench="ldlt", part="growth", rows=rows, exponents=exponents)))
E
    "$PLOT" j.json g.svg
    panels g.svg "Setup: 2-D and others" "Time to solution: 3-D" "lap2d: p = 1.00" "lap2d: p = 1.25" "lap3d:0.5"
}

@test "bench trisolve --plot: the panels of every part" {
    needs_matplotlib
    "$SADDLE" bench trisolve lap2d_8 --part settings,figure1,figure3,table1,figure6,figure7,figure8,figure9,auto --most 4 \
        --plot t.svg -q
    panels t.svg "Time to solution, setup included" "Figure 1, lap2d_8: iterations" "Figure 1, lap2d_8: time" \
        "Figure 3, lap2d_8: a triangular solve" "Table 1: solved with sweeps" "Figure 6: the fastest number of sweeps, IC(1)" \
        "Figure 7: speed-up over exact solves, IC(0)" "Figure 8: block off-diagonal dominance" "Figure 9, lap2d_8, IC(0): time" \
        "Time to solution of auto over that of the best"
}

@test "where there is no matplotlib it says what to install, and what was measured is kept" {
    mkdir without
    echo 'raise ImportError("no module")' > without/matplotlib.py
    export PYTHONPATH=$PWD/without TMPDIR=$PWD
    run -3 --separate-stderr "$SADDLE" bench blocks lap2d_10 --block-size 8 --json j.json --plot p.png -q
    [[ $stderr == *"apt-get install python3-matplotlib"* && $stderr == *"saddle-bench-plot j.json p.png"* ]]
    is_json j.json
    [ ! -e p.png ]
    run -3 --separate-stderr "$SADDLE" bench blocks lap2d_10 --block-size 8 --plot p.png -q
    kept=(saddle-bench.*.json)
    [[ $stderr == *"saddle-bench-plot $PWD/${kept[0]} p.png"* ]]
    json "${kept[0]}" 'j["bench"] == "blocks"'
}

@test "the script refuses what is not a benchmark's, and a picture that cannot be written" {
    needs_matplotlib
    echo '{"bench": "direct"}' > j.json
    run -1 "$PLOT" j.json p.png
    [[ $output == *"j.json: there is no picture of this benchmark"* ]]
    blocks_json | sed 's/"rows": .*/"rows": [], "solves": []}/' > j.json
    run -1 "$PLOT" j.json p.png
    [[ $output == *"there is nothing to draw"* ]]
    run -1 "$PLOT" j.json
    [[ $output == *"usage: "* ]]
    blocks_json > j.json
    run -1 "$PLOT" j.json nowhere/p.png
    [ "$(echo *)" = j.json ]
}
