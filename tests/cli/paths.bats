#!/usr/bin/env bats
# scripts/check-paths: on trees made here, and on this one.
load helper

check() { "$BATS_TEST_DIRNAME/../../scripts/check-paths" "$@"; }

setup_tree() {
    mkdir -p tree/src/plan tree/docs
    echo '/* See plan/order.c, src/plan/tree.c and docs/NAME.txt. */ char *s = "gone/away.c";' > tree/src/plan/tree.c
    echo '#include "no/comment.h"' > tree/src/plan/order.c
    echo 'See [the tree](../src/plan/tree.c).' > tree/docs/guide.md
}

@test "paths that exist pass; strings, includes and names in capitals are not paths" {
    setup_tree
    run -0 check tree
    [[ $output == *"3 files"* ]]
}

@test "a path that no file has is named with its line, in comments and in documents" {
    setup_tree
    printf '/*\n * See plan/gone.c.\n */\n' > tree/src/plan/tree.h
    printf 'One.\n\nSee docs/gone.md.\n' > tree/docs/other.md
    run -1 check tree
    [ "${#lines[@]}" = 2 ]
    [[ $output == *"src/plan/tree.h:2: there is no plan/gone.c"* && $output == *"docs/other.md:3: there is no docs/gone.md"* ]]
}

@test "every path that this tree names exists" {
    run -0 check
}
