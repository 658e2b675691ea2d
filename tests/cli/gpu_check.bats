#!/usr/bin/env bats
# scripts/gpu-check, where there is no GPU: what it does with the reference in its place, and what it finds when
# a solve is not as it should be.
load helper

CHECK=$BATS_TEST_DIRNAME/../../scripts/gpu-check

# check CHANGE [ONLY]: the solves of gpu-check with a program that changes what the real one wrote: commands on its
# files $x and $j and on its $status, for the devices cpu and reference and the cases mixed and limit.
check() {
    fake_program build/bin/saddle "$(printf '%q ' "$SADDLE")\"\$@\" && status=0 || status=\$?" \
        'case "$*" in *"--krylov cg --precision mixed"*) case=mixed ;; *"--maxiter 20"*) case=limit ;; *) case= ;; esac' \
        'case "$*" in *"--device reference"*) device=reference ;; *) device=cpu ;; esac' \
        'while [ $# -gt 0 ]; do case $1 in --out) x=$2 ;; --json) j=$2 ;; esac; shift; done' \
        "$1" 'exit $status'
    GPU_CHECK_ONLY=${2:-} GPU_CHECK_DEVICE=reference run "$CHECK" logs build
}

@test "all solves end as they should, with the same bits again, and near those of the CPU" {
    check ''
    [ "$status" -eq 0 ]
    [[ ${lines[-1]} == "all passed" ]]
    [ "$(grep -c 'same bits again; difference from the CPU .*, at most ' logs/solves.txt)" -eq 26 ]
    [ "$(grep -c 'same bits again; residual .*, of the CPU ' logs/solves.txt)" -eq 2 ]
    run ! grep -E 'FAILED|TOO FAR|OTHER BITS|NOT as|NOT the' logs/solves.txt
}

# found TEXT COMMAND: gpu-check fails, and says this once, of one solve.
found() {
    check "$2" '^lap3d --krylov cg --precision mixed$|--maxiter 20$'
    [ "$status" -eq 1 ] || { echo "$output"; cat logs/solves.txt; false; }
    [[ ${lines[-1]} == "FAILED: solves" ]]
    [ "$(grep -c "$1" logs/solves.txt)" -eq 1 ]
    [ "$(grep -cE 'FAILED|TOO FAR|OTHER BITS|NOT as|NOT the' logs/solves.txt)" -eq 1 ]
    [ "$(grep -c '^lap3d' logs/solves.txt)" -eq 2 ]
    rm -rf logs again
}

@test "an entry that is wrong by 1e-6 is too far from the CPU's" {
    found "difference from the CPU 1e-06, at most .*e-.*: TOO FAR" \
        '[ "$device$case" != referencemixed ] || sed -i "5s/.*/1.000001/" "$x"'
}

@test "an entry that is no number, and a row that is missing" {
    found "difference from the CPU nan, at most .*: TOO FAR" '[ "$device$case" != referencemixed ] || sed -i "5s/.*/nan/" "$x"'
    found "difference from the CPU nan, at most .*: TOO FAR" '[ "$device$case" != referencemixed ] || sed -i 5d "$x"'
}

@test "other bits the second time" {
    found "OTHER BITS the second time" \
        "[ \"\$device\$case\" != referencemixed ] || [ -e '$PWD/again' ] || { touch '$PWD/again'; sed -i '5s/\$/1/' \"\$x\"; }"
}

@test "a solve that does not converge, or does where it should not, or for another reason" {
    found "cpu-1: status 1, iteration limit .*: NOT as expected, converged on cpu" \
        '[ "$device$case" != cpumixed ] || { status=1; sed -i -e "s/\"converged\": true/\"converged\": false/" -e "s/\"reason\": \"[^\"]*\"/\"reason\": \"iteration limit\"/" "$j"; }'
    found "cpu-1: status 0, relative residual .*: NOT as expected, iteration limit on cpu" \
        '[ "$device$case" != cpulimit ] || { status=0; sed -i -e "s/\"converged\": false/\"converged\": true/" -e "s/iteration limit/relative residual/" "$j"; }'
    found "cpu-1: status 1, stagnation .*: NOT as expected, iteration limit on cpu" \
        '[ "$device$case" != cpulimit ] || sed -i "s/iteration limit/stagnation/" "$j"'
}

@test "a solve that crashes, that ran elsewhere, whose residual is another" {
    found "cpu-1: FAILED with status 139" '[ "$device$case" != cpumixed ] || { status=139; rm "$x"; }'
    found "cpu-1: status 0, .*: NOT as expected, converged on cpu" '[ "$device$case" != cpumixed ] || sed -i "s/\"device\": \"cpu\"/\"device\": \"cuda\"/" "$j"'
    found "residual .*, of the CPU .*: NOT the same" '[ "$device$case" != cpulimit ] || sed -i "s/\"relative_residual\": [0-9]/&9/" "$j"'
}

@test "the direct solver is held against the CPU on every family and on folders; what differs is named" {
    local real=${SADDLE%/bin/*}/bench/compare_direct
    mkdir m
    laplacian 8 1 | gzip > m/one.mtx.gz
    fake_program build/bench/compare_direct "$(printf '%q ' "$real")\"\$@\""
    GPU_CHECK_MATRICES=$PWD/m check '' '^nothing$'
    [ "$status" -eq 0 ] || { echo "$output"; cat logs/compare*; false; }
    [ "$(tail -n 1 logs/compare.txt)" = "15 compared, 15 the same" ]
    [ "$(tail -n 1 logs/compare-m.txt)" = "1 compared, 1 the same" ]
    [ "$(cat logs/compare-matrices.txt)" = "m: 1 compared, 1 the same" ]
    # bits that are not the same, and a process that ends without a word
    fake_program build/bench/compare_direct 'case "$*" in *kktz*) echo "kktz n 8  MISMATCH other bits of x: 1, CPU 0"; exit 1 ;; *ipm*) exit 139 ;; *) echo "x n 1  same" ;; esac'
    check '' '^nothing$'
    [ "$status" -eq 1 ]
    [[ ${lines[-1]} == "FAILED: compare" ]]
    grep -q 'kktz n 8  MISMATCH' logs/compare.txt
    grep -q 'ipm_400: ENDED without a word' logs/compare.txt
}

# summary STEP: its status in the summary.
summary() { awk -v step="$1" '$1 == step { print $2 }' logs/summary.txt; }

# on_emulated STEP...: these steps, on the emulated GPU.
on_emulated() {
    [ -e "${SADDLE%/bin/*}/lib/libsaddle_cuda_emulated.so" ] || skip "no emulated GPU was built"
    GPU_CHECK_DEVICE=emulated GPU_CHECK_STEPS="$*" GPU_CHECK_BENCH="--repeat 1" run "$CHECK" logs "${SADDLE%/bin/*}"
}

@test "every benchmark of the direct solver is called as it wants to be, on small problems of the emulated GPU" {
    mkdir m
    laplacian 6 1 | gzip > m/one.mtx.gz
    export GPU_CHECK_MATRICES=$PWD/m
    on_emulated doctor offload bench-anchors bench-real verified pivoting profile presolve auto many trisolve
    [ "$status" -eq 0 ] || { echo "$output"; false; }
    [[ ${lines[-1]} == "all passed" ]]
    for step in doctor offload bench-anchors bench-real verified pivoting profile presolve auto many trisolve; do
        [ "$(summary $step)" = 0 ]
        [ -s logs/$step.txt ]
    done
    for step in bench-anchors bench-real verified pivoting profile presolve auto; do
        json logs/$step.json 'all(r["saddle"]["error"] is None for r in j["rows"])'
    done
    json logs/presolve.json 'all(r["saddle"]["presolve"][k]["solve"] > 0 for r in j["rows"] for k in ("off", "band", "whole"))'
    json logs/auto.json 'all(r["saddle"]["on_auto"] > 0 for r in j["rows"])'
    json logs/trisolve-lap3d_5.json 'all(r[k]["solved"] for r in j["cusparse"] for k in ("exact", "few", "many", "blocks", "auto", "cpu"))'
    # cuDSS is asked where its driver is, and what it cannot run on is told
    cp -r "${SADDLE%/bin/*}/lib" .
    fake_program build/bin/saddle "exec $(printf '%q ' "$SADDLE")\"\$@\" --peers build/bin/peers"
    mv lib build/lib
    GPU_CHECK_DEVICE=emulated GPU_CHECK_STEPS=cudss run -0 "$CHECK" logs build
    [ "$(summary cudss)" = 77 ]
    fake_program build/bin/peers/peer-cudss 'echo "{\"peer\": \"cudss\", \"error\": \"no card\"}"'
    sed -i "s|--peers .*|--peers $PWD/build/bin/peers|" build/bin/saddle
    GPU_CHECK_DEVICE=emulated GPU_CHECK_STEPS=cudss run -1 "$CHECK" logs build
    [[ $output == *"cuDSS gave no answer"*"FAILED: cudss"* ]]
}

@test "one step that fails, or takes too long, does not keep the others from their logs" {
    # the one that takes too long says and saves what it has when it is asked to end, and is waited for
    fake_program build/bin/saddle "trap 'sleep 0.2; echo last words; echo saved > $PWD/saved; exit 1' TERM" \
        'case "$*" in *doctor*) echo well ;; *verified*) sleep 1000 & wait ;; *pivoting*) echo bad; exit 9 ;; *) echo good ;; esac'
    mkdir build/lib
    sed -e 's/^verified bench - 300/verified bench - 1/' -e "s|^root=.*|root=$PWD/copy|" "$CHECK" > check
    mkdir -p copy/scripts
    cp check copy/scripts/gpu-check
    chmod +x copy/scripts/gpu-check
    GPU_CHECK_DEVICE=emulated GPU_CHECK_STEPS="doctor verified pivoting profile" run -1 copy/scripts/gpu-check logs build
    [[ ${lines[-1]} == "FAILED: verified pivoting" ]]
    [ "$(summary doctor) $(summary verified) $(summary pivoting) $(summary profile)" = "0 124 9 0" ]
    [ "$(cat logs/doctor.txt logs/pivoting.txt logs/profile.txt)" = $'well\nbad\ngood' ]
    grep -q '^last words$' logs/verified.txt
    [ "$(cat saved)" = saved ]
    [[ $output == *"ended after 1 s, its time limit"* ]]
    # another run into the same folder keeps what it does not run again
    echo kept > logs/verified.txt
    GPU_CHECK_ARCHIVE=all.tar.gz GPU_CHECK_DEVICE=emulated GPU_CHECK_STEPS=presolve run -0 copy/scripts/gpu-check logs build
    [ "$(summary presolve) $(summary verified)" = "0 124" ]
    [ "$(tar -xzOf all.tar.gz ./summary.txt)" = "$(cat logs/summary.txt)" ]
    [ "$(cat logs/verified.txt)" = kept ]
    # what does not fit the time is not begun
    GPU_CHECK_SECONDS=4 GPU_CHECK_DEVICE=emulated GPU_CHECK_STEPS="presolve profile" run -0 copy/scripts/gpu-check logs build
    [ "$(summary presolve) $(summary profile)" = "- -" ]
    [[ $output == *"== presolve: left out, "*" s are left"* ]]
}

@test "steps are listed, by groups too; one that is not there is named" {
    run -0 "$CHECK" --list
    for step in solves compare compare-matrices test_move offload cudss bench-anchors bench-real presolve auto many trisolve sanitizer-direct; do
        [[ $output == *$'\n'"$step "* ]]
    done
    GPU_CHECK_DEVICE=reference GPU_CHECK_STEPS="solves nothing" run -2 "$CHECK" logs "${SADDLE%/bin/*}"
    [[ $output == *"there is no step nothing"* ]]
    GPU_CHECK_DEVICE=reference GPU_CHECK_STEPS=tests run -0 "$CHECK" logs "${SADDLE%/bin/*}"
    [[ $output != *"== "* ]]
    GPU_CHECK_DEVICE=gpu run -2 "$CHECK" logs "${SADDLE%/bin/*}"
    # every test that is packed for a machine with a GPU is a step, and the other way round
    packed=$(sed -n 's/.*tests\/test_{\(.*\)}.*/\1/p' "${CHECK%gpu-check}gpu-pack" | tr , '\n' | sort)
    [ "$packed" = "$(sed -n 's/^test_\([a-z_]*\) tests .*/\1/p' "$CHECK" | sort)" ]
}

@test "wrong usage; no GPU is 77" {
    run -2 "$CHECK"
    fake_program bin/nvidia-smi 'exit 1'
    PATH=$PWD/bin:$PATH run -77 "$CHECK" logs "${SADDLE%/bin/*}"
}

@test "a library keeps its device code for one architecture; what is for others becomes zeros, in its place" {
    python3 - <<'PY'
import struct
def part(kind, architecture, code):
    return struct.pack("<HHIQ12xI32x", kind, 0, 64, len(code), architecture) + code
def container(*parts):
    body = b"".join(parts)
    return struct.pack("<IHHQ", 0xBA55ED50, 1, 16, len(body)) + body
front, back = b"\x7fELF" + b"host" * 10, struct.pack("<I", 0xBA55ED50) + b"no container"
both = part(2, 80, b"eighty"), part(2, 90, b"ninety"), part(1, 90, b"text")
open("library", "wb").write(front + container(*both) + container(part(2, 80, b"alone")) + back)
open("thin", "wb").write(front + container(part(2, 80, bytes(6)), both[1], part(1, 90, bytes(4))) + container(part(2, 80, b"alone")) + back)
PY
    "${CHECK%gpu-check}gpu-thin" library copy
    cmp copy thin
    run -1 "${CHECK%gpu-check}gpu-thin" library copy 75
    [[ $output == "library has no machine code for 75" ]]
    run -1 "${CHECK%gpu-check}gpu-thin" library
    [[ $output == usage:* ]]
}
