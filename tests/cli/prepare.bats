#!/usr/bin/env bats
# saddle prepare: every file it writes, every word it takes, the files it reads, and what it refuses.
load helper

CHECK=$BATS_TEST_DIRNAME/check_prepare.py

# vector VALUE...: an n x 1 array, to standard output.
vector() {
    matrix "array real general" "$# 1" "$@"
}

# checked MATRIX OPTION...: prepares, and holds all that is written against the matrix. Under a sanitizer
# (SADDLE_TEST_SLOW) the program is what is looked at.
checked() {
    local file=$1
    shift
    rm -rf out
    "$SADDLE" prepare "$file" -q --out out --json j.json "$@" || { echo "prepare $file $*"; return 1; }
    [ -n "${SADDLE_TEST_SLOW:-}" ] || python3 "$CHECK" "$file" out j.json || { echo "of prepare $file $*"; return 1; }
}

# A general matrix whose large entries stand off the diagonal, in scales over many decades.
general() {
    matrix "coordinate real general" "5 5 12" "1 2 1e6" "2 1 3" "2 3 -40" "3 4 1e-5" "3 3 1e-7" "4 5 7" \
        "5 1 2e3" "5 5 1" "1 4 12" "4 2 5" "4 1 -2" "2 5 0.5"
}

# A KKT matrix with a zero block: all pivots there are pairs.
kkt() {
    matrix "coordinate real symmetric" "5 5 8" "1 1 1e-3" "2 2 2" "3 3 5e4" "4 1 1" "4 2 -3" "5 2 1e2" "5 3 20" \
        "3 1 0.5"
}

# bad STATUS TEXT ARGUMENT...: refused with this status and text, and nothing is left behind.
bad() {
    local expected=$1 text=$2
    shift 2
    run --separate-stderr "$SADDLE" prepare "$@" --out out
    [ "$status" -eq "$expected" ] || { echo "status $status of $*: $stderr"; return 1; }
    [[ $stderr == *"$text"* ]] || { echo "$stderr"; return 1; }
    [ -z "$output" ]
    [ ! -e out ]
}

@test "the report says what was chosen" {
    "$SADDLE" gen stokes2d 10 --out A.mtx
    run -0 --separate-stderr "$SADDLE" prepare A.mtx --block-size 8
    for head in matrix scaling matching pairs order fill blocks dominance time memory; do
        grep -qE "^$head  +[^ ]" <<< "$output" || { echo "no $head: $output"; false; }
    done
    [[ $output == *"A: n 279, nnz 1540, symmetric"* ]]
    [[ $output == *"scaling     mc64"* ]]
    [[ $output == *"structural rank 279;"* ]]
    [[ $output == *"blocks      clusters: "*" of at most 8 rows"* ]]
    [ -z "$stderr" ]
    narrow 110 <<< "$output"
}

@test "every scaling of a symmetric and of a general matrix" {
    kkt > S.mtx
    general > G.mtx
    for file in S.mtx G.mtx; do
        for scaling in auto mc64 ruiz auction col2 none; do
            checked $file --scaling $scaling
            [ $scaling = auto ] || json j.json "j['scaling'] == '$scaling'"
        done
    done
    "$SADDLE" gen darcy2d 8 --out D.mtx
    for scaling in mc64 ruiz auction col2 none; do checked D.mtx --scaling $scaling; done
}

@test "every order, with and without pairs" {
    "$SADDLE" gen stokes2d 7 --out S.mtx
    general > G.mtx
    for order in auto metis amd rcm natural; do
        for pairs in auto on off; do
            checked S.mtx --order $order --pairs $pairs
            checked G.mtx --order $order --pairs $pairs
            [ $pairs = auto ] || json j.json "j['pairs'] == '$pairs'"
        done
        [ $order = auto ] || json j.json "j['order'] == '$order'"
    done
}

@test "every blocking, of several sizes" {
    "$SADDLE" gen stokes2d 7 --out S.mtx
    "$SADDLE" gen lap2d 9 --out L.mtx
    general > G.mtx
    for blocking in none grid pairs clusters supervariables cosine priority priority-dynamic metis pablo; do
        for size in 2 32; do
            checked S.mtx --blocking $blocking --block-size $size
        done
        checked L.mtx --blocking $blocking --block-size 8
        json j.json "j['blocking'] == '$blocking'"
        checked G.mtx --blocking $blocking
        checked S.mtx --blocking $blocking --pairs on --order rcm
    done
}

@test "blocks of single rows, and blocks that are not asked for" {
    kkt > A.mtx
    checked A.mtx --pairs off --blocking grid --block-size 1
    json j.json 'j["blocks"]["count"] == 5 and j["block_size"] == 1'
    checked A.mtx
    json j.json 'j["blocking"] == "none" and j["block_size"] is None and j["blocks"]["count"] == 5'
    checked A.mtx --block-size 4
    json j.json 'j["blocking"] == "clusters" and j["block_size"] == 4'
}

@test "a zero diagonal block is matched, and its pairs are kept" {
    kkt > A.mtx
    checked A.mtx --pairs on
    json j.json 'j["matching"]["structural_rank"] == 5 and j["two_by_two"] == 2'
    json j.json 'abs(j["matching"]["log_scaled"]) < 1e-9'
}

@test "what it wrote can be read back: the same fill, the same scaling" {
    "$SADDLE" gen stokes2d 8 --out S.mtx
    general > G.mtx
    "$SADDLE" prepare S.mtx -q --out first --json first.json --pairs off
    "$SADDLE" prepare S.mtx -q --out second --json second.json --pairs off \
        --scaling first/scaling.mtx --order first/permutation.mtx
    cmp first/scaling.mtx second/scaling.mtx
    cmp first/permutation.mtx second/permutation.mtx
    json second.json 'j["factor"] == json.load(open("first.json"))["factor"]'
    json second.json 'j["scaling"] == "user" and j["order"] == "user"'
    python3 "$CHECK" S.mtx second second.json
    "$SADDLE" prepare G.mtx -q --out first --json first.json --pairs on
    "$SADDLE" prepare G.mtx -q --out second --json second.json --pairs on \
        --scaling first/scaling-row.mtx,first/scaling-col.mtx --order first/permutation.mtx
    cmp first/scaling-row.mtx second/scaling-row.mtx
    cmp first/scaling-col.mtx second/scaling-col.mtx
    cmp first/permutation.mtx second/permutation.mtx
    json second.json 'j["factor"] == json.load(open("first.json"))["factor"]'
    python3 "$CHECK" G.mtx second second.json
}

@test "into its own folder: files are replaced, those of another kind of run do not stay" {
    kkt > S.mtx
    general > G.mtx
    "$SADDLE" prepare G.mtx -q --out out
    [ -e out/row-permutation.mtx ]
    echo mine > out/notes.txt
    "$SADDLE" prepare S.mtx -q --out out --scaling none --pairs off
    [ "$(cd out && echo *)" = "blocks.mtx notes.txt pairs.mtx permutation.mtx scaling.mtx" ]
    "$SADDLE" prepare S.mtx -q --out out --scaling out/scaling.mtx --order out/permutation.mtx
    "$SADDLE" prepare G.mtx -q --out out/
    [ ! -e out/scaling.mtx ]
    [ -e out/scaling-col.mtx ]
}

@test "a scaling of one's own in the folder is not removed" {
    general > G.mtx
    mkdir out
    vector 1 2 3 4 5 > out/scaling.mtx
    cp out/scaling.mtx before
    "$SADDLE" prepare G.mtx -q --scaling out/scaling.mtx --out out
    cmp out/scaling.mtx before
}

@test "one file scales both sides of a general matrix" {
    general > A.mtx
    vector 1 2 3 4 5 > s.mtx
    "$SADDLE" prepare A.mtx -q --scaling s.mtx --out out --json j.json
    python3 "$CHECK" A.mtx out j.json
    grep -v '^%' out/scaling-row.mtx > r
    grep -v '^%' out/scaling-col.mtx | cmp - r
    [ "$(tail -n 1 r)" = 5 ]
}

@test "a comma in a file's name is no second file" {
    general > A.mtx
    vector 1 2 3 4 5 > a,b.mtx
    run -0 "$SADDLE" prepare A.mtx -q --scaling a,b.mtx
    run -0 "$SADDLE" prepare A.mtx -q --scaling a,b.mtx,a,b.mtx
}

@test "words and files: the nearest word, a file that is called like a word" {
    kkt > A.mtx
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --scaling mc46
    [[ $stderr == *'--scaling cannot be "mc46": there is no such file; did you mean mc64?'* ]]
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --order nowhere.mtx
    [[ $stderr == *"auto|metis|amd|rcm|natural|FILE"*"there is no such file"* ]]
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --order user
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --scaling=
    [[ $stderr == *"not empty"* ]]
    vector 5 4 3 2 1 > amd
    "$SADDLE" prepare A.mtx -q --order amd --json j.json
    json j.json 'j["order"] == "amd"'
    "$SADDLE" prepare A.mtx -q --order ./amd --json j.json --out out --pairs off
    json j.json 'j["order"] == "user"'
    [ "$(grep -v '^%' out/permutation.mtx | tr '\n' ' ')" = "5 1 5 4 3 2 1 " ]
}

@test "an order from standard input" {
    kkt > A.mtx
    vector 5 4 3 2 1 | "$SADDLE" prepare A.mtx -q --order - --pairs off --out out
    [ "$(sed -n '/^%/!p' out/permutation.mtx | sed -n 2p)" = 5 ]
    run -2 --separate-stderr "$SADDLE" prepare - --order - < A.mtx
    [[ $stderr == *"standard input"* ]]
}

@test "an order that is no permutation is refused, naming file and position" {
    kkt > A.mtx
    vector 1 2 2 4 5 > repeated.mtx
    bad 3 "repeated.mtx: " A.mtx --order repeated.mtx
    [[ $stderr == *3* && $stderr == *2* ]]
    vector 1 2 3 4 6 > beyond.mtx
    bad 3 "beyond.mtx: not a permutation: position 5 holds 6" A.mtx --order beyond.mtx
    vector 1 2 0 4 5 > zero.mtx
    bad 3 "zero.mtx: not a permutation: position 3 holds 0" A.mtx --order zero.mtx
    vector 1 2 -3 4 5 > negative.mtx
    bad 3 "position 3 holds -3" A.mtx --order negative.mtx
    vector 1 2.5 3 4 5 > fraction.mtx
    bad 3 "position 2 holds 2.5, which is not an integer" A.mtx --order fraction.mtx
    vector 1 2 3 1e300 5 > huge.mtx
    bad 3 "position 4" A.mtx --order huge.mtx
    vector 1 2 3 4 > short.mtx
    bad 3 "short.mtx: the order has 4 entries, the matrix has 5 rows" A.mtx --order short.mtx
}

@test "a scaling that is none is refused, naming file and entry" {
    kkt > A.mtx
    general > G.mtx
    vector 1 0 1 1 1 > zero.mtx
    bad 3 "zero.mtx: " A.mtx --scaling zero.mtx
    [[ $stderr == *2* ]]
    vector 1 1 1 -4 1 > negative.mtx
    bad 3 "negative.mtx: " A.mtx --scaling negative.mtx
    [[ $stderr == *4* ]]
    vector 1 1 nan 1 1 > nan.mtx
    bad 3 "nan.mtx" A.mtx --scaling nan.mtx
    vector 1 1 1 1 inf > inf.mtx
    bad 3 "inf.mtx" A.mtx --scaling inf.mtx
    vector 1 1 1 1 1 1 > long.mtx
    bad 3 "long.mtx: the scaling has 6 entries, the matrix has 5 rows" A.mtx --scaling long.mtx
    vector 1 1 1 1 1 > ones.mtx
    bad 3 "columns" G.mtx --scaling ones.mtx,zero.mtx
    bad 3 "a single scaling for rows and columns" A.mtx --scaling ones.mtx,ones.mtx
}

@test "a file that is none: a folder, rubbish, a matrix" {
    kkt > A.mtx
    mkdir folder
    bad 3 "folder" A.mtx --order folder
    echo rubbish > rubbish.mtx
    bad 3 "rubbish.mtx" A.mtx --scaling rubbish.mtx
    bad 3 "A.mtx" A.mtx --scaling A.mtx
}

@test "options that do not go together are wrong usage, and no JSON is written" {
    kkt > A.mtx
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --blocking pairs --pairs off --json j.json
    [[ $stderr == *"pairs cannot be off"*"--help"* ]]
    [ ! -e j.json ]
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --blocking clusters --pairs on --block-size 1
    [[ $stderr == *"block-size 2"* ]]
    run -2 "$SADDLE" prepare A.mtx --block-size 33
    run -2 "$SADDLE" prepare A.mtx --blocking blocks
    run -2 "$SADDLE" prepare A.mtx --krylov cg
}

@test "odd matrices: empty rows, zero diagonals, explicit zeros, one entry, 600 decades" {
    matrix "coordinate real symmetric" "4 4 2" "2 2 5" "4 2 1" > empty.mtx
    matrix "coordinate real symmetric" "4 4 0" > nothing.mtx
    matrix "coordinate real symmetric" "4 4 3" "2 1 1" "4 3 2" "3 2 7" > zero.mtx
    matrix "coordinate real symmetric" "3 3 5" "1 1 0" "2 1 0" "2 2 4" "3 3 0" "3 1 2" > explicit.mtx
    matrix "coordinate real symmetric" "1 1 1" "1 1 -3" > one.mtx
    matrix "coordinate real symmetric" "3 3 5" "1 1 1e-300" "2 1 1e300" "2 2 1e-300" "3 2 1e150" "3 3 1e300" > wide.mtx
    matrix "coordinate real general" "3 3 4" "1 2 1e300" "2 1 1e-300" "3 3 1e-300" "3 1 5e-324" > tiny.mtx
    matrix "coordinate real general" "3 3 3" "1 1 1" "1 2 2" "1 3 3" > row.mtx
    matrix "coordinate pattern symmetric" "3 3 3" "1 1" "3 1" "3 2" > pattern.mtx
    matrix "coordinate real skew-symmetric" "3 3 2" "2 1 4" "3 1 5" > skew.mtx
    for file in *.mtx; do
        for options in "" "--scaling ruiz" "--scaling auction --order amd" "--scaling col2 --order rcm" \
            "--blocking clusters" "--blocking priority --pairs off" "--blocking supervariables" "--pairs on"; do
            # shellcheck disable=SC2086
            checked $file $options
        done
    done
    "$SADDLE" prepare empty.mtx -q --json j.json
    json j.json 'j["matching"]["structural_rank"] == 2'
    "$SADDLE" prepare row.mtx -q --json j.json
    json j.json 'j["matching"]["structural_rank"] == 1'
    run -0 "$SADDLE" prepare row.mtx
    [[ $output == *"less than n: the matrix is singular"* ]]
}


@test "bad input: status 3, a message that names it, and JSON with nulls" {
    matrix "coordinate real symmetric" "2 2 2" "1 1 nan" "2 2 1" > A.mtx
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --json j.json --out out
    [[ $stderr == *"A.mtx"* ]]
    json j.json 'j["status"] == 3 and j["message"] and j["matrix"]["n"] is None and j["factor"]["nnz"] is None'
    [ ! -e out ]
    matrix "coordinate real general" "2 3 1" "1 3 1" > A.mtx
    run -3 --separate-stderr "$SADDLE" prepare A.mtx
    [[ $stderr == *"2 rows and 3 columns"* ]]
    run -3 --separate-stderr "$SADDLE" prepare nowhere.mtx
    [[ $stderr == *"nowhere.mtx"* ]]
}

@test "golden: the JSON of a small matrix, less its times and bytes" {
    kkt > kkt.mtx
    "$SADDLE" prepare kkt.mtx -q --json prepared.json --block-size 2 --order amd
    python3 - prepared.json > plain <<'PY'
import json, sys
j = json.load(open(sys.argv[1]))
for key in j["time"]: j["time"][key] = None
for key in j["bytes"]: j["bytes"][key] = None
def rounded(x):
    if isinstance(x, dict): return {key: rounded(value) for key, value in x.items()}
    return round(x, 9) + 0.0 if isinstance(x, float) else x
j["saddle"] = None
json.dump(rounded(j), sys.stdout, indent=1)
print()
PY
    [ "${SADDLE_GOLDEN:-}" != write ] || cp plain "$DATA/golden/prepared.json"
    diff -u "$DATA/golden/prepared.json" plain
}

@test "every key is there in its order, whatever the exit status" {
    kkt > A.mtx
    for options in "A.mtx" "nowhere.mtx" "A.mtx --max-memory 1K" "A.mtx --out A.mtx/x"; do
        rm -f j.json
        # shellcheck disable=SC2086
        run "$SADDLE" prepare $options -q --json j.json
        json j.json 'list(j) == ["saddle", "matrix", "scaling", "order", "pairs", "blocking", "block_size",
            "orderings", "matching", "two_by_two", "dense_rows", "factor", "blocks", "dominance",
            "off_diagonal_dominance", "block_off_diagonal_dominance", "time", "bytes", "status", "message"]'
        json j.json 'list(j["time"]) == ["read", "matching", "scaling", "pairs", "graph", "order", "counts",
            "blocking", "measures", "total"]'
    done
}

@test "--json - is all that goes to standard output; -q prints nothing" {
    kkt > A.mtx
    "$SADDLE" prepare A.mtx --json - > j.json
    is_json j.json
    run -0 "$SADDLE" prepare A.mtx -q
    [ -z "$output" ]
    gzip -k A.mtx
    gzip -dc A.mtx.gz | "$SADDLE" prepare - --json - > j.json
    json j.json 'j["matrix"]["n"] == 5'
}

@test "a folder that cannot be is told before the work" {
    kkt > A.mtx
    cp A.mtx B.mtx
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --out no/such/folder
    [[ $stderr == *"no/such/folder: cannot be created: there is no folder no/such; create it first"* ]]
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --out B.mtx
    [[ $stderr == *"B.mtx: cannot be written: Not a directory"* ]]
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --out B.mtx/folder
    [[ $stderr == *"B.mtx/folder: cannot be created"* ]]
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --out /proc/saddle
    [[ $stderr == *"/proc/saddle: cannot be created"* ]]
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --out A.mtx
    run -2 --separate-stderr "$SADDLE" prepare A.mtx --out -
    cmp A.mtx B.mtx
    [ "$(echo *)" = "A.mtx B.mtx" ]
}

@test "JSON and picture go into the folder that is made; a run that fails leaves no empty one" {
    kkt > A.mtx
    "$SADDLE" prepare A.mtx -q --out new --json new/j.json --plot new/B.svg
    for file in j.json B.svg permutation.mtx; do [ -s new/$file ]; done
    echo rubbish > bad.mtx
    run -3 "$SADDLE" prepare bad.mtx -q --out other
    [ ! -e other ]
    run -3 "$SADDLE" prepare bad.mtx -q --out other --json other/j.json
    [ "$(ls other)" = j.json ]
}

@test "neither JSON nor picture takes the place of a vector" {
    kkt > A.mtx
    mkdir out
    for json in out/scaling.mtx ./out//matching.mtx "$PWD/out/blocks.mtx"; do
        run -3 --separate-stderr "$SADDLE" prepare A.mtx --out out --json "$json"
        [[ $stderr == *"--out writes a file of this name"* ]]
        [ -z "$(ls out)" ]
    done
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --out new --json new/pairs.mtx
    [ ! -e new ]
    "$SADDLE" prepare A.mtx -q --out out --json scaling.mtx
}

@test "a folder without permission to write" {
    [ "$(id -u)" -ne 0 ] || skip "root may write anywhere"
    kkt > A.mtx
    mkdir closed
    chmod 500 closed
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --out closed
    [[ $stderr == *"closed: cannot be written: Permission denied"* ]]
    run -3 --separate-stderr "$SADDLE" prepare A.mtx --out closed/in
}

@test "no vector takes the matrix's place" {
    mkdir out
    kkt > out/scaling.mtx
    cp out/scaling.mtx before
    run -3 --separate-stderr "$SADDLE" prepare out/scaling.mtx --out out
    [[ $stderr == *"out/scaling.mtx: cannot be written: it is the input matrix"* ]]
    cmp out/scaling.mtx before
}

@test "the same bytes from run to run and at any number of threads" {
    "$SADDLE" gen stokes2d 25 --out S.mtx
    general > G.mtx
    for file in S.mtx G.mtx; do
        for options in "" "--blocking clusters" "--scaling auction --blocking priority" "--blocking metis --pairs off"; do
            # shellcheck disable=SC2086
            for run in 1 2 3; do
                threads=$run
                [ "$run" -lt 3 ] || threads=1
                OMP_NUM_THREADS=$threads "$SADDLE" prepare $file $options -q --out out$run
            done
            diff -r out1 out2
            diff -r out1 out3
        done
    done
}

@test "the picture: PNG and SVG, with blocks and pairs" {
    "$SADDLE" gen stokes2d 5 --out A.mtx
    "$SADDLE" prepare -q A.mtx --pairs on --blocking clusters --plot B.svg
    python3 -c 'import xml.dom.minidom; xml.dom.minidom.parse("B.svg")'
    grep -q ' blocks<' B.svg
    grep -q ' pairs<' B.svg
    "$SADDLE" prepare -q A.mtx --plot B.png
    [ "$(head -c 4 B.png | tail -c 3)" = PNG ]
    general > G.mtx
    "$SADDLE" prepare -q G.mtx --plot G.svg --pairs on
    grep -q '12 entries' G.svg
    "$SADDLE" gen lap2d 60 --out L.mtx
    "$SADDLE" prepare -q L.mtx --blocking grid --plot L.svg
    grep -q '450 blocks, too small to see' L.svg
    run -2 "$SADDLE" prepare A.mtx --plot B.gif
}

@test "a limit on memory is status 4" {
    "$SADDLE" gen lap2d 50 --out A.mtx
    run -4 --separate-stderr "$SADDLE" prepare A.mtx --max-memory 300K --out out
    [[ $stderr == *"raise --max-memory"* ]]
    [ ! -e out ]
}

@test "interrupted: 130, JSON, nothing written" {
    mkfifo pipe.mtx
    run -130 --separate-stderr interrupt ready INT "$SADDLE" prepare pipe.mtx --out out --json j.json
    [[ $stderr == "saddle: interrupted"* ]]
    json j.json 'j["status"] == 130'
    [ ! -e out ]
    "$SADDLE" gen lap3d 60 --out A.mtx
    run -130 --separate-stderr interrupt ready INT "$SADDLE" prepare A.mtx --out out --json j.json --pairs on
    [[ $stderr == "saddle: interrupted in "* ]]
    json j.json 'j["status"] == 130'
    [ ! -e out ]
}

complete_with() { # words... the last of which is to be completed
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _saddle
}

@test "completion and help show words and FILE" {
    . <("$SADDLE" manual bash)
    complete_with saddle prepare --scaling mc || true # no file is a failure of compgen
    [ "${COMPREPLY[*]}" = mc64 ]
    touch mcfile.mtx
    complete_with saddle prepare --scaling mc
    [ "${COMPREPLY[*]}" = "mcfile.mtx mc64" ]
    complete_with saddle prepare --scaling us || true
    [ "${#COMPREPLY[*]}" -eq 0 ]
    run -0 "$SADDLE" prepare --help
    [[ $output == *"--scaling auto|mc64|ruiz|auction|col2|none|FILE"* ]]
    [[ $output == *"--order auto|metis|amd|rcm|natural|FILE"* ]]
    narrow 96 <<< "$output"
}

@test "solve does not take what it does not use" {
    kkt > A.mtx
    run -2 "$SADDLE" solve A.mtx --blocking clusters
    run -2 "$SADDLE" solve A.mtx --block-size 4
    run -2 --separate-stderr "$SADDLE" solve A.mtx --scaling mc64 --method diagonal
    [[ $stderr == *"--scaling applies to the direct solver, bjacobi, ldlt, jacobi, ic and ilu, not to --method diagonal"* ]]
    run -0 "$SADDLE" solve A.mtx --scaling mc64 -v
    [[ $output == *scaling* ]]
}

@test "bench prepare: ratios to METIS for files and problems, and a summary" {
    "$SADDLE" gen stokes2d 20 --out stokes.mtx
    general > general.mtx
    run -0 --separate-stderr "$SADDLE" bench prepare stokes.mtx general.mtx lap2d_30 --repeat 1 --blockings --json j.json
    [[ $output == *"stokes "* && $output == *"lap2d_30 "* && $output == *"median"* ]]
    narrow 110 <<< "$output"
    json j.json '[r["name"] for r in j["rows"]] == ["stokes", "general", "lap2d_30"]'
    json j.json 'all(r["above_one"] <= 1e-10 and r["matched_off_one"] <= 1e-10 for r in j["rows"])'
    json j.json 'all(r["seconds"][k] >= 0 for r in j["rows"] for k in r["seconds"])'
    json j.json 'j["rows"][0]["levels"] > 1 and j["rows"][2]["cluster_levels"] > 0'
    json j.json 'j["summary"]["match"]["worst"] >= j["summary"]["match"]["median"]'
    json j.json 'j["summary"]["levels"]["worst"] <= j["summary"]["levels"]["median"]'
}

@test "bench prepare: a matrix that cannot be prepared is told, the others are measured" {
    run -3 --separate-stderr "$SADDLE" bench prepare nowhere.mtx lap2d_10 --repeat 1 --json j.json
    [[ $stderr == *nowhere.mtx* ]]
    json j.json 'len(j["rows"]) == 1'
    run -2 "$SADDLE" bench read A.mtx B.mtx
    run -2 "$SADDLE" bench spmv A.mtx --blockings
}
