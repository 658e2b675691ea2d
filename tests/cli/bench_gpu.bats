#!/usr/bin/env bats
# saddle bench direct --device cuda, on the emulated GPU, beside drivers that only tell what they are told to.
load helper

gpu() {
    export SADDLE_CUDA_MODULE=${SADDLE%/*}/../lib/libsaddle_cuda_emulated.so
    [ -e "$SADDLE_CUDA_MODULE" ] || skip "no emulated GPU was built"
}

# cudss REFACTOR NEGATIVE: a driver of cuDSS with these figures, and one of the card.
cudss() {
    fake_program peers/peer-cudss 'echo "$*" >> asked; echo ready' 'while read word && [ "$word" = turn ]; do echo turn; done' \
        'echo "{\"peer\": \"cudss\", \"version\": \"cuDSS 9\", \"refactor\": '"$1"', \"solve\": 0.5, \"solve_64\": 2, \"negative\": '"$2"', \"device_bytes\": 1000000, \"backward_error\": 1e-9, \"backward_error_refined\": 1e-15}"'
    fake_program peers/peer-card 'echo "{\"card\": \"a card\", \"dgemm\": 1e12, \"bandwidth\": 1e12}"' 'free=9000000' \
        'while read word; do echo $free; free=$((free - 1000000)); done'
}

@test "every part has its figures, and every ratio is that of its figures" {
    gpu
    cudss 0.25 36
    run -0 --separate-stderr "$SADDLE" bench direct --device cuda lap2d_10 kktz_6 --repeat 1 --arrays host --peers peers --json j.json
    narrow 110 <<< "$output"
    for words in "factor / cuDSS" "verified solve, ms" "% cost" "eighths accepted" "/ better" "once: cpu" "cuDSS 9" "a card: dgemm 1.0 Tflop/s"; do
        [[ $output == *"$words"* ]]
    done
    [ "$(sort asked | uniq | grep -c -e '--setting default' -e '--setting matching')" -eq 4 ]
    json j.json '[(r["name"], r["n"]) for r in j["rows"]] == [("lap2d_10", 100), ("kktz_6", 72)] and not j["arrays_on_device"]'
    json j.json 'all(r["saddle"]["error"] is None and r["saddle"]["waits"] == 1 for r in j["rows"])'
    json j.json 'all(r["saddle"][k] > 0 for r in j["rows"] for k in ("analysis", "factor", "solve", "solve_64", "flops",
        "verified", "profile_whole", "on_cpu", "on_gpu", "on_auto", "once_cpu", "once_gpu", "once_auto", "fronts", "levels",
        "critical_flops", "device_bytes"))'
    # so small that device auto stays, and does not open the GPU for a single use
    json j.json 'j["opening"] > 0 and all(r["saddle"]["moved_at"] is None and r["saddle"]["once_auto_moved"] == 0 for r in j["rows"])'
    json j.json 'all(abs(r["ratios"]["auto"] * min(r["saddle"]["on_cpu"], r["saddle"]["on_gpu"]) / r["saddle"]["on_auto"] - 1) < 1e-9
        and abs(r["ratios"]["once"] * min(r["saddle"]["once_cpu"], r["saddle"]["once_gpu"] + j["opening"]) / r["saddle"]["once_auto"] - 1) < 1e-9
        for r in j["rows"])'
    json j.json '[(r["saddle"]["negative"], r["saddle"]["certain_negative"]) for r in j["rows"]] == [(0, 0), (36, 36)]'
    json j.json 'all(r["saddle"]["backward_error_verified"] < 1e-15 and r["saddle"]["backward_error"] < 1e-12 for r in j["rows"])'
    json j.json '[r["saddle"]["factor_cholesky"] is None for r in j["rows"]] == [False, True]'
    json j.json 'all(sum(r["saddle"]["tiles"]) > 0 and r["saddle"]["profile_factor"] >= 0 for r in j["rows"])'
    json j.json 'all(abs(r["ratios"]["factor_to_cudss"] * 0.25 / r["saddle"]["factor"] - 1) < 1e-9
        and abs(r["ratios"]["solve_to_cudss"] * 0.5 / r["saddle"]["solve"] - 1) < 1e-9
        and abs(r["ratios"]["solve_64_to_cudss"] * 2 / r["saddle"]["solve_64"] - 1) < 1e-9
        and abs(r["ratios"]["dgemm"] * r["saddle"]["factor"] * 1e12 / r["saddle"]["flops"] - 1) < 1e-9
        and r["ratios"]["memory_to_cudss"] == 1 for r in j["rows"])'
    json j.json 'j["summary"]["generated"]["factor_to_cudss"]["count"] == 2 and j["summary"]["generated"]["pivoting"]["count"] == 1'
}

@test "another inertia is told, a peer that fails is a dash, small and general files are left out" {
    gpu
    cudss 0.25 7
    mkdir m
    laplacian 6 1 > m/small.mtx
    matrix "coordinate real general" "2 2 3" "1 1 1" "2 1 1" "2 2 1" > m/general.mtx
    run -0 --separate-stderr "$SADDLE" bench direct --device cuda kktz_6 m --part factor --repeat 1 --arrays host --peers peers --json j.json
    [[ $output == *"cuDSS counts 7 negative eigenvalues, with matching 7"* ]]
    [[ $output == *"left out: 1 matrices below 0.1 Gflop"*"left out: 1 matrices that are not symmetric"* ]]
    json j.json '[r["name"] for r in j["rows"]] == ["kktz_6"] and j["rows"][0]["saddle"]["profile_whole"] is None'
    fake_program peers/peer-cudss 'echo "{\"peer\": \"cudss\", \"error\": \"no card\"}"'
    rm peers/peer-card
    run -0 --separate-stderr "$SADDLE" bench direct --device cuda m --least 0 --part factor --repeat 1 --arrays host --peers peers --json j.json
    [[ $stderr == *"small: cudss: no card"* && $output == *" - "* ]]
    json j.json '[r["ratios"]["factor_to_cudss"] for r in j["rows"]] == [None] and j["rows"][0]["saddle"]["factor"] > 0'
}

@test "wrong usage, and no GPU" {
    for words in "--part factor lap2d_5" "--device cuda --part sparse" "--device cuda --threads 2 lap2d_5" "--device reference lap2d_5" \
        "--least 1 lap2d_5" "--arrays host lap2d_5"; do
        # shellcheck disable=SC2086 # several words
        run -2 --separate-stderr "$SADDLE" bench direct $words
    done
    SADDLE_CUDA_MODULE=$PWD/nowhere.so run -5 --separate-stderr "$SADDLE" bench direct --device cuda lap2d_5
}
