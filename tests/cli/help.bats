#!/usr/bin/env bats
load helper

@test "--help lists the commands and ends with 0" {
    run -0 --separate-stderr "$SADDLE" --help
    [[ $output == *"solve A.mtx"* && $output == *"doctor"* ]]
    [ -z "$stderr" ]
}

@test "--version names version, commit, BLAS and CUDA" {
    run -0 --separate-stderr "$SADDLE" --version
    [[ ${lines[0]} =~ ^saddle\ [0-9]+\.[0-9]+\.[0-9]+\ \(commit\ .+\)$ ]]
    [[ ${lines[1]} == "BLAS: "* ]]
    [[ ${lines[2]} == "CUDA: "* ]]
}

@test "every command has its help" {
    names=$("$SADDLE" --help | awk '/^  [a-z]/ { print $1 }')
    [ "$(wc -w <<< "$names")" -ge 7 ]
    for name in $names; do
        run -0 --separate-stderr "$SADDLE" "$name" --help
        [[ ${lines[0]} == "Usage: saddle $name"* ]]
        [ "$("$SADDLE" help "$name")" = "$("$SADDLE" "$name" --help)" ]
    done
}

@test "every benchmark has its help" {
    names=$("$SADDLE" bench --help | awk '/^  [a-z]/ { print $1 }')
    [ "$(wc -w <<< "$names")" -ge 6 ]
    for name in $names; do
        run -0 --separate-stderr "$SADDLE" bench "$name" --help
        [[ ${lines[0]} == "Usage: saddle bench $name"* ]]
        [ "$("$SADDLE" bench help "$name")" = "$output" ]
    done
}

@test "help shows choices and defaults" {
    run -0 "$SADDLE" solve --help
    [[ $output == *"--stop any|residual|normwise|componentwise"* ]]
    [[ $output == *"requested accuracy (default 1e-10)"* ]]
    [[ $output == *"-q, --quiet"* ]]
}

@test "no line of the help is wider than 96 columns" {
    for name in solve bench doctor "bench direct" "bench blocks" "bench ldlt"; do
        # shellcheck disable=SC2086 # a command and a benchmark
        "$SADDLE" $name --help | narrow 96
    done
}

@test "every option of solve --help stands in the manual page and in both completions" {
    "$SADDLE" manual man | sed 's/\\-/-/g' > page
    "$SADDLE" manual bash > bash
    "$SADDLE" manual zsh > zsh
    "$SADDLE" solve --help | grep -oE '^  (-., )?--[a-z-]+' | grep -oE -- '--[a-z-]+' > options
    [ "$(wc -l < options)" -gt 15 ]
    while read -r option; do
        grep -qE -- "^\.B (-., )?$option( |$)" page
        grep -qE -- "'solve '.*[' ]${option}[ ']" bash
        grep -qE -- "'$option(=|\[)" zsh
    done < options
}

@test "the manual page is well formed" {
    command -v groff > /dev/null || skip "groff is not installed"
    "$SADDLE" manual man > page
    run -0 --separate-stderr groff -man -Tutf8 -ww -z page
    [ -z "$stderr" ]
}

complete_with() { # words... the last of which is to be completed
    COMP_WORDS=("$@")
    COMP_CWORD=$(($# - 1))
    _saddle
}

@test "bash completes commands, options and words" {
    . <("$SADDLE" manual bash)
    complete_with saddle so
    [ "${COMPREPLY[*]}" = solve ]
    complete_with saddle solve --kry
    [ "${COMPREPLY[*]}" = --krylov ]
    complete_with saddle solve --krylov min
    [ "${COMPREPLY[*]}" = minres ]
    complete_with saddle solve --krylov = sq
    [ "${COMPREPLY[*]}" = sqmr ]
    PATH=${SADDLE%/*}:$PATH
    complete_with saddle bench dir
    [ "${COMPREPLY[*]}" = direct ]
    complete_with saddle bench direct --anch
    [ "${COMPREPLY[*]}" = --anchors ]
    touch some.mtx
    complete_with saddle solve some
    [ "${COMPREPLY[*]}" = some.mtx ]
}

@test "the completion for zsh can be read by zsh" {
    command -v zsh > /dev/null || skip "zsh is not installed"
    "$SADDLE" manual zsh > _saddle
    zsh -n _saddle
}
