#!/usr/bin/env bats
# saddle doctor and saddle bench.
load helper

@test "doctor finds what saddle needs" {
    run -0 --separate-stderr "$SADDLE" doctor
    for name in saddle cpu threads memory blas metis amd zlib gpu solver; do
        [[ $output =~ (^|$'\n')$name\ +(ok|warning|missing) ]]
    done
    [[ $output != *broken* ]]
}

@test "doctor in JSON" {
    "$SADDLE" doctor --json - > j.json
    json j.json '{"cpu", "blas", "gpu", "solver"} <= {f["name"] for f in j["findings"]}'
    json j.json 'all(f["state"] in ("ok", "warning", "missing") for f in j["findings"])'
    json j.json 'all(f["advice"] for f in j["findings"] if f["state"] != "ok")'
}

@test "doctor warns of an environment that cannot be" {
    SADDLE_CUDA_MODULE=/nowhere.so run -0 "$SADDLE" doctor
    [[ $output == *'"/nowhere.so" cannot be read'* ]]
    # version 14 of LLVM's OpenMP reads what it never wrote where this is no number: it may ask for any memory
    [[ $(ldd "$SADDLE") != *libomp* ]] || skip "clang's OpenMP may end here by itself"
    OMP_NUM_THREADS=many run -0 "$SADDLE" doctor
    [[ $output == *'OMP_NUM_THREADS is "many"'* ]]
}

# What OpenBLAS takes for a processor that it does not know is played by a function in front of its own.
@test "a BLAS that does not know the processor is told, and doctor says so" {
    [[ $("$SADDLE" doctor) == *DYNAMIC_ARCH* ]] || skip "no OpenBLAS for many processors"
    grep -qw avx2 /proc/cpuinfo || skip "no AVX2"
    OPENBLAS_CORETYPE=Prescott run -0 "$SADDLE" doctor
    [[ $output =~ "blas kernels        warning  Prescott, chosen by OPENBLAS_CORETYPE" ]]
    [[ $output =~ "unset it, or set OPENBLAS_CORETYPE="(Haswell|SkylakeX) ]]
    command -v cc >/dev/null || skip "no compiler"
    [[ $(ldd "$SADDLE") != *asan* ]] || skip "a sanitizer must come first"
    cat > core.c <<'END'
#include <stdlib.h>
const char *openblas_get_corename(void)
{
    const char *set = getenv("OPENBLAS_CORETYPE");
    return set ? set : "Prescott";
}
END
    cc -shared -fPIC core.c -o core.so
    run -0 env -u OPENBLAS_CORETYPE LD_PRELOAD=./core.so "$SADDLE" doctor
    [[ $output =~ "takes Prescott; saddle has set OPENBLAS_CORETYPE="(Haswell|SkylakeX)" for itself" ]]
}

@test "bench read compares with cat and gzip -dc in one run" {
    laplacian 40 0 > A.mtx
    "$SADDLE" bench read A.mtx --repeat 1 --json j.json
    json j.json '[r["what"] for r in j["rows"]] == ["cat", "read plain", "gzip -dc", "read gzipped"]'
    json j.json 'all(r["seconds"] > 0 for r in j["rows"]) and j["rows"][1]["ratio"] > 0'
    gzip A.mtx
    TMPDIR=$PWD "$SADDLE" bench read A.mtx.gz --repeat 1 -q
    [ "$(echo *)" = "A.mtx.gz j.json" ]
}

@test "bench spmv gives the error beside the time" {
    laplacian 40 0.5 > A.mtx
    "$SADDLE" bench spmv A.mtx --json - > j.json
    json j.json 'len(j["rows"]) == 3 and all(r["error"] < 1e-14 for r in j["rows"][1:])'
    run -0 "$SADDLE" bench spmv A.mtx
    [[ $output == *"y = Ax, 1 thread"* && $output == *"copy"* ]]
}

@test "bench refuses what it cannot read" {
    run -3 --separate-stderr "$SADDLE" bench read nowhere.mtx
    [[ $stderr == *nowhere.mtx* ]]
    run -3 --separate-stderr "$SADDLE" bench spmv nowhere.mtx
    [[ $stderr == *nowhere.mtx* ]]
    run -2 --separate-stderr "$SADDLE" bench read -
}
