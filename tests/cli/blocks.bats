#!/usr/bin/env bats
# saddle bench blocks: its drivers, its report, and the solves with block-Jacobi.
load helper

needs_driver() {
    [ -x "$PEERS/blocks-cpu" ] || skip "no driver was built (no LAPACK, or sanitizers are on)"
}

# fake_driver LINE...: a driver, in the folder drivers, that says what is in the file lines after these commands.
fake_driver() {
    fake_program drivers/blocks-cpu "$@"
}

# measured PART WORK WHO NAME SIZE BATCH SECONDS: a line of a driver.
measured() {
    echo "measured part=$1 work=$2 who=$3 name=$4 version=default precision=double size=$5 batch=$6 rows=$(($5 * $6))" \
        "seconds=$7 bytes=1000 flops=1e6 residual=1e-16 replaced=0 two_by_two=0"
}

@test "bench blocks on the CPU: all kernels, peers and residuals, as tables and JSON" {
    needs_driver
    run -0 --separate-stderr "$SADDLE" bench blocks --quick --json j.json
    # The first two lines name the processor and the BLAS, in as many words as these take.
    [[ ${lines[0]} == "Saddle "*" on cpu" && ${lines[1]} == *", 1 thread; "* ]]
    tail -n +3 <<< "$output" | narrow 112
    [[ $output == *"times as fast as"* && $output == *"pays at"* && $output == *"over equal sizes"* ]]
    json j.json 'j["bench"] == "blocks" and j["device"] == "cpu" and j["quick"] and j["threads"] == 1'
    json j.json '{r["part"] for r in j["rows"]} == {"kernels", "mixed", "apply", "setup"}'
    json j.json '{r["name"] for r in j["rows"] if r["part"] == "kernels" and r["who"] == "saddle"} == {"ldu",
        "ldu-partial", "ldu-full", "llt", "llt-diagonal", "ldlt-static", "ldlt-bunch-kaufman", "ldlt-complete",
        "jordan", "huard", "huard-t"}'
    json j.json '{r["name"] for r in j["rows"] if r["who"] == "lapack"} == {"getrf", "getrf+getri", "sytrf", "potrf"}'
    json j.json 'all(r["seconds"] > 0 and r["replaced"] == 0 for r in j["rows"])'
    json j.json 'all((r["two_by_two"] > 0) == r["name"].startswith("ldlt-") for r in j["rows"] if r["work"] == "factor")'
    json j.json 'all(r["residual"] < (1e-14 if r["precision"] == "double" else 1e-5)
        for r in j["rows"] if r["work"] in ("factor", "apply"))'
    json j.json 'all(r["copies"] > 0 and r["times_as_fast"] > 0 and r["percent_of_peak"] > 0
        for r in j["rows"] if r["part"] == "kernels" and r["work"] == "factor" and r["who"] == "saddle")'
    json j.json 'all(r["percent_of_floor"] > 0 for r in j["rows"] if r["work"] == "apply")'
    json j.json 'all(r["over_equal_sizes"] > 0 for r in j["rows"] if r["part"] == "mixed" and r["size"] == 0)'
    json j.json 'len(j["break_even"]) == 4'
}

@test "bench blocks: one part, of the reference" {
    needs_driver
    run -0 "$SADDLE" bench blocks --quick --device reference --part setup --json - -q
    echo "$output" > j.json
    json j.json 'j["device"] == "reference" and {r["part"] for r in j["rows"]} == {"setup"}'
}

@test "bench blocks asks its driver for what was asked for, and makes ratios of what it tells" {
    { measured kernels gemm machine gemm 0 0 1e-3
      measured kernels copy machine copy 8 1000 1e-6
      measured kernels factor saddle ldu-partial 8 1000 2e-6
      measured kernels factor lapack getrf 8 1000 2e-5; } > lines
    fake_driver 'echo "$*" > asked' 'echo machine of paper' 'echo note of paper' 'echo step 1 1' "cat '$PWD/lines'" 'echo done'
    run -0 --separate-stderr "$SADDLE" bench blocks --peers drivers --part kernels --threads 3 --quick --json j.json
    [ "$(cat asked)" = "--part kernels --threads 3 --quick" ]
    [[ $stderr == *"saddle: of paper"* && $output == *"of paper"* ]]
    json j.json 'j["machine"] == "of paper" and len(j["rows"]) == 4'
    json j.json 'abs(j["rows"][2]["copies"] - 2) < 1e-9 and abs(j["rows"][2]["times_as_fast"] - 10) < 1e-9'
    json j.json 'j["rows"][2]["peer"] == "getrf" and abs(j["rows"][2]["percent_of_peak"] - 5e4) < 1e-6'
}

@test "bench blocks: chosen kernels, sizes, versions and instructions" {
    fake_driver 'echo "$*" > asked' 'echo done'
    run -0 "$SADDLE" bench blocks --peers drivers --kernel jordan,huard-t --size 20 --instructions avx2
    [ "$(cat asked)" = "--part all --threads 1 --size 20 --instructions avx2 --kernel jordan --kernel huard-t" ]
    mv drivers/blocks-cpu drivers/blocks-cuda
    run -0 "$SADDLE" bench blocks --peers drivers --device cuda --kernel-version shared
    [ "$(cat asked)" = "--part all --threads 1 --version shared" ]
    for wrong in "--kernel lu" "--kernel ldu,," "--size 33" "--size 8 --part mixed" "--kernel-version shared" \
        "--instructions avx2 --device cuda" "--instructions avx2 --device reference"; do
        # shellcheck disable=SC2086 # options and their values
        run -2 "$SADDLE" bench blocks --peers drivers $wrong
    done
    run -2 --separate-stderr "$SADDLE" bench blocks "$DATA/kkt/aug2dc_saddle.mtx.gz" --size 8
    [[ $stderr == *"give --part too"* ]]
}

@test "bench blocks: matrices solved with chosen kernels" {
    run -0 "$SADDLE" bench blocks lap2d_8 --kernel huard,llt --json j.json -q
    json j.json '[(s["kernel"], s["block_size"]) for s in j["solves"]] == [("huard", 1)] + [
        (kernel, size) for size in (8, 16, 32) for kernel in ("huard", "llt")]'
    run -2 --separate-stderr "$SADDLE" bench blocks lap2d_8 --kernel ldu
    [[ $stderr == *'there is no kernel "ldu"'* ]]
}

@test "bench blocks: one kernel of one size, beside its peer and a copy" {
    needs_driver
    run -0 "$SADDLE" bench blocks --quick --part kernels --kernel llt --size 5 --instructions portable --json j.json -q
    json j.json '{(r["name"], r["size"]) for r in j["rows"] if r["work"] == "factor"} == {("llt", 5), ("potrf", 5)}'
    json j.json 'all(r["copies"] > 0 for r in j["rows"] if r["name"] == "llt")'
}

@test "bench blocks on a GPU: both versions of a kernel stand beside the default" {
    { measured kernels copy machine copy 8 1000 1e-6
      measured kernels factor saddle ldu-partial 8 1000 2e-6
      measured kernels factor saddle ldu-partial 8 1000 2e-6 | sed s/version=default/version=registers/
      measured kernels factor saddle ldu-partial 8 1000 3e-6 | sed s/version=default/version=shared/
      measured kernels factor cublas getrfBatched 8 1000 7e-6; } > lines
    fake_driver "cat '$PWD/lines'" 'echo done'
    mv drivers/blocks-cpu drivers/blocks-cuda
    run -0 --separate-stderr "$SADDLE" bench blocks --device cuda --peers drivers
    grep -qE '^ +8 +ldu-partial +2.00 +2.00 +2.00 +3.00 +3.50 getrfBatched +1.0e-16$' <<< "$output"
    [ "$(grep -c ldu-partial <<< "$output")" = 3 ] # and twice among the ratios
}

@test "bench blocks: a driver that is not there, that fails, that dies, that says nonsense" {
    mkdir empty
    run -3 --separate-stderr "$SADDLE" bench blocks --peers empty
    [[ $stderr == *"empty/blocks-cpu does not exist"*"scripts/build"* ]]
    run -3 --separate-stderr "$SADDLE" bench blocks --peers empty --device cuda
    [[ $stderr == *"empty/blocks-cuda does not exist"*SADDLE_CUDA=ON* ]]
    fake_driver 'echo failed no such thing'
    run -5 --separate-stderr "$SADDLE" bench blocks --peers drivers
    [[ $stderr == *"no such thing"* ]]
    fake_driver "$(printf 'echo "%s"' "$(measured kernels copy machine copy 8 10 1e-6)")" 'exit 9'
    run -3 --separate-stderr "$SADDLE" bench blocks --peers drivers --json j.json
    [[ $stderr == *"ended early, with status 9"* ]]
    json j.json 'len(j["rows"]) == 1'
    fake_driver 'echo measured nothing'
    run -3 --separate-stderr "$SADDLE" bench blocks --peers drivers
    [[ $stderr == *"unexpected line from the driver: measured nothing"* ]]
}

@test "bench blocks ends its driver when it is interrupted" {
    fake_driver 'echo $$ > pid; exec sleep 1000'
    ends_its_driver bench blocks --peers drivers
}

@test "bench blocks: BiCGSTAB with block-Jacobi, by kernel and block size" {
    run -0 --separate-stderr "$SADDLE" bench blocks lap2d_20 elas3d_3 --json j.json
    [[ $output == *"solved of all"* && $output == *"2 of 2"* ]]
    json j.json 'j["rows"] == [] and {s["matrix"] for s in j["solves"]} == {"lap2d_20", "elas3d_3"}'
    json j.json '{s["block_size"] for s in j["solves"]} == {1, 8, 16, 32}'
    json j.json '{s["kernel"] for s in j["solves"] if s["block_size"] == 16} == {"jordan", "huard", "huard-t",
        "lu", "ldlt", "llt"}'
    json j.json 'all(s["solved"] and s["relative_residual"] <= 1e-6 and s["factor"] > 0 for s in j["solves"])'
    run -0 "$SADDLE" bench blocks lap2d_20 --block-size 5 --block-kernel lu --json - -q
    echo "$output" > j.json
    json j.json '[(s["kernel"], s["block_size"]) for s in j["solves"]] == [("lu", 5)]'
}

@test "bench blocks: wrong usage, and a matrix that cannot be read" {
    run -2 --separate-stderr "$SADDLE" bench blocks --part everything
    [[ $stderr == *"all|kernels|mixed|apply|setup"* ]]
    run -2 --separate-stderr "$SADDLE" bench blocks --block-size 8
    [[ $stderr == *"no matrix is given"* ]]
    run -2 "$SADDLE" bench blocks lap2d_5 --quick
    run -2 "$SADDLE" bench blocks --plot p.gif
    run -2 "$SADDLE" bench blocks --json - --plot -
    run -2 "$SADDLE" bench direct lap2d_5 --part apply
    diagonal > A.mtx
    run -2 "$SADDLE" bench blocks A.mtx --json ./A.mtx
    run -3 --separate-stderr "$SADDLE" bench blocks nowhere.mtx lap2d_5 --block-size 4 --json j.json
    [[ $stderr == *nowhere.mtx* ]]
    json j.json '{s["matrix"] for s in j["solves"]} == {"lap2d_5"}'
}
