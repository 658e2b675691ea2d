#!/usr/bin/env bats
# scripts/check-includes, on trees that are made here.
load helper

check() { "$BATS_TEST_DIRNAME/../../scripts/check-includes" "$PWD"; }

# file PATH LINE...: a file of the tree.
file() {
    mkdir -p "${1%/*}"
    printf '%s\n' "${@:2}" > "$1"
}

# A tree in which everything includes what comes before it.
tree() {
    file include/saddle/saddle.h
    file src/core/context.h '#include "saddle/saddle.h"' '#include <stdint.h>' '#include "generated.h"'
    file src/plan/tree.c '/* #include "factor/factors.h" */' '#include "plan/tree.h"'
    file src/plan/tree.h '#include "core/context.h"'
    file src/backend/front.cu '#include "plan/tree.h"'
    file src/factor/factors.h '#include "backend/front.h"'
    file src/backend/front.h
    file cli/command.h
    file cli/solve.c '#include "cli/command.h"' '#include "saddle/saddle.h"'
    file bench/front.c '#include "backend/front.h"'
}

@test "a tree that includes what comes before it passes" {
    tree
    run -0 check
    [[ $output == *"8 files"* ]]
}

@test "an include of what comes after is named with its line, in every kind of file" {
    tree
    for name in tree.c order.h kernel.inc kernel.cu kernel.cuh table.def; do
        file "src/plan/$name" '' ' #  include "backend/front.h"'
        run -1 check
        [[ $output == "src/plan/$name:2: "*"backend comes after plan" ]]
        rm "src/plan/$name"
    done
}

@test "a way around by a relative name is found" {
    tree
    file src/core/dd.h '#include "../plan/tree.h"'
    run -1 check
    [[ $output == "src/core/dd.h:1: "*"plan comes after core" ]]
}

@test "the library includes nothing of program and benchmarks, the program nothing within the library" {
    tree
    file src/solver/solve.c '#include "cli/command.h"'
    file examples/simplest.c '#include "core/context.h"'
    file cli/info.c '#include "plan/tree.h"'
    run -1 check
    [ "${#lines[@]}" = 3 ]
    [[ $output == *src/solver/solve.c:1:* && $output == *examples/simplest.c:1:* && $output == *cli/info.c:1:* ]]
}

@test "a folder that has no place in the order is refused" {
    tree
    file src/extra/more.c
    run -1 check
    [[ $output == "src/extra is not in the order"* ]]
}
