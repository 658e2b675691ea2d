#!/usr/bin/env bats
# saddle bench ldlt --part symildl and its driver, with a program that imitates SYM-ILDL's (fake_symildl.py).
load helper

DRIVER=$PEERS/peer-symildl

setup_fake() {
    [ -x "$DRIVER" ] || skip "drivers of peers are not built"
    fake_program fake/ldl_driver "exec '${SADDLE_PYTHON:-python3}' '$BATS_TEST_DIRNAME/fake_symildl.py' \"\$@\""
    mkdir tmp
    export SADDLE_SYMILDL=fake/ldl_driver FAKE_LOG=$PWD/asked FAKE_PID=$PWD/pid TMPDIR=$PWD/tmp
    diagonal > A.mtx
}

bench() { "$SADDLE" bench ldlt A.mtx --part symildl --json j.json "$@"; }

@test "bench ldlt --part symildl: iterations, fill, times, and errors of the matrix as given" {
    setup_fake
    run -0 --separate-stderr bench
    narrow 132 <<< "$output"
    [[ $output == *"A  "*"Saddle"*"SYM-ILDL  "*"1/1"*"SYM-ILDL, equal"*"its defaults"*"equal fill"* ]]
    json j.json 'j["part"] == "symildl" and j["tolerance"] == 1e-8 and j["absent"] is None and len(j["rows"]) == 1'
    json j.json '((p := j["rows"][0]["symildl"]["default"]) and p["run"] and p["solved"] and p["why"] is None and
        (p["fill"], p["drop_tol"], p["stored"], p["setup"], p["asked_residual"]) == (3, 1e-3, 6, 0.02, 1e-8))'
    json j.json '([(s["rhs"], s["iterations"], s["told_residual"], s["solve"]) for s in
        j["rows"][0]["symildl"]["default"]["right_hand_sides"]] == [("A1", 1, 5e-9, 0.005), ("random", 1, 5e-9, 0.005)])'
    # It writes 13 digits.
    json j.json '(all(s["relative_residual"] < 1e-11 and s["componentwise_error"] < 1e-11 for p in ("default", "equal")
        for s in j["rows"][0]["symildl"][p]["right_hand_sides"]))'
    json j.json 'j["rows"][0]["saddle"]["solved"] and len(j["rows"][0]["saddle"]["right_hand_sides"]) == 2'
    json j.json '(j["rows"][0]["symildl"]["equal"]["solved"] and
        j["rows"][0]["symildl"]["equal"]["stored"] <= j["rows"][0]["saddle"]["stored"])'
    json j.json '(all((t["of"], t["saddle"], t["symildl"], t["only_saddle"], t["only_symildl"], t["told_otherwise"], t["timed"])
        == (1, 1, 1, 0, 0, 0, 1) for t in j["totals"].values()))'
    # Its own defaults, and the tolerance and iterations that Saddle gets; nothing is left behind.
    grep -qe "-fill=3 -tol=0.001[0-9]* -save=false -solver=sqmr -max_iters=1000 -solver_tol=1.*e-08" asked
    [ -z "$(ls tmp)" ]
}

@test "the driver of SYM-ILDL: as many entries in L as it may have" {
    setup_fake
    "$SADDLE" gen lap2d 3 --out A.mtx -q
    matrix "array real general" "9 1" 1 2 3 4 5 6 7 8 9 > b.mtx
    # By default it has 11, and with other tolerances 9, 10, 11, 12, 14 or 16; nine tenths are near enough.
    for given in "9 9" "10 10" "12 11" "14 14" "100 16"; do
        "$DRIVER" A.mtx --rhs b.mtx --most "${given% *}" > lines
        [ "$(grep -o '"nnz": [0-9]*' lines | tr '\n' ' ')" = "\"nnz\": 11 \"nnz\": ${given#* } " ]
    done
    run -0 "$DRIVER" A.mtx --rhs b.mtx --most 8
    [[ ${lines[0]} == *'"iterations_0": 1'* && ${lines[1]} == *'"error": "no factors within the fill"'* ]]
    [ -z "$(ls tmp)" ]
}

@test "bench ldlt --part symildl: a residual of its scaled matrix is no answer" {
    setup_fake
    # Asked again for as much less as is missing.
    FAKE=loose run -0 bench
    json j.json '(all(p["solved"] and 1e-12 < p["asked_residual"] < 1e-11 and
        all(1e-9 < s["relative_residual"] < 1e-8 for s in p["right_hand_sides"]) for p in j["rows"][0]["symildl"].values()))'
    # And for no less than rounding allows.
    FAKE=wrong run -0 bench
    [[ $output == *"no: it tells a residual of 5e-15"* ]]
    json j.json '(all(p["run"] and not p["solved"] and p["asked_residual"] == 1e-14 and
        all(s["relative_residual"] > 0.9 for s in p["right_hand_sides"]) for p in j["rows"][0]["symildl"].values()))'
    json j.json '(all((t["symildl"], t["only_saddle"], t["told_otherwise"], t["timed"]) == (0, 1, 1, 0)
        for t in j["totals"].values()))'
}

@test "bench ldlt --part symildl: a program that fails, in every way" {
    setup_fake
    while IFS=: read -r mode why; do
        FAKE=$mode run -0 bench
        [[ $output == *"  no: $why"* ]] || { echo "$mode: $output"; return 1; }
        json j.json 'all(p["run"] and not p["solved"] for p in j["rows"][0]["symildl"].values())'
        json j.json '(j["rows"][0]["saddle"]["solved"] and
            all((t["of"], t["symildl"], t["only_saddle"], t["told_otherwise"]) == (1, 0, 1, 0) for t in j["totals"].values()))'
    done <<'MODES'
nan:its solution: 
silent:printed no iterations
unsaved:wrote no solution
fail:ended with status 1: The right hand side dimensions do not match
crash:was ended by SIGABRT
limit:iteration limit
MODES
    FAKE=late run -0 bench --limit 0.5
    [[ $output == *"  no: took too long"* ]]
    json j.json 'j["rows"][0]["symildl"]["default"]["why"] == "took too long"'
    run kill -0 "$(cat pid)"
    [ "$status" != 0 ]
    [ -z "$(ls tmp)" ]
}

@test "bench ldlt --part symildl: where its program is not there, that is said and nothing is measured" {
    setup_fake
    for program in nowhere A.mtx; do # no file, and none that can be run
        SADDLE_SYMILDL=$program run -0 --separate-stderr bench
        [ "$output" = "SYM-ILDL was not run: its program was not found: SADDLE_SYMILDL names ldl_driver" ]
        json j.json '("not found" in j["absent"] and j["rows"] == [] and all(t["of"] == 0 for t in j["totals"].values()))'
        SADDLE_SYMILDL=$program run -1 "$DRIVER" --there
    done
    run -0 "$DRIVER" --there
    run -0 --separate-stderr bench --peers none
    [ "$output" = "SYM-ILDL was not run: there is no peer-symildl" ]
    fake_program peers/peer-symildl 'exit 3'
    run -0 --separate-stderr bench --peers peers
    [ "$output" = "SYM-ILDL was not run: its driver ended without output" ]
    [ ! -e asked ]
}

@test "bench ldlt --part symildl: an interrupt ends its program, and leaves no files" {
    setup_fake
    FAKE=late is_interrupted bench ldlt A.mtx --part symildl
    # It is told that its parent is gone when that has happened: it may be seen for a moment, or wait to be buried.
    while state=$(cut -d ' ' -f 3 "/proc/$(cat pid)/stat" 2>/dev/null) && [ "$state" != Z ]; do sleep 0.01; done
    [ -z "$(ls tmp)" ]
}
