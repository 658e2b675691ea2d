#!/usr/bin/env bats
# Wrong usage: exit status 2, a message on standard error that helps, nothing on standard output.
load helper

wrong() { # expected text, arguments...
    local text=$1
    shift
    run -2 --separate-stderr "$SADDLE" "$@"
    [ -z "$output" ]
    [[ $stderr == *"$text"* ]] || { echo "$stderr"; return 1; }
}

@test "no command" { wrong "Usage: saddle COMMAND"; }
@test "an unknown command, with the nearest one" { wrong 'did you mean "saddle solve"?' slove A.mtx; }
@test "an option before the command" { wrong "the command must come first" --tol 1 solve A.mtx; }
@test "a file in place of a command" {
    diagonal > A.mtx
    wrong 'did you mean "saddle solve A.mtx"?' A.mtx
}
@test "no matrix" { wrong "A.mtx[.gz] is missing" solve; }
@test "two matrices" { wrong 'unexpected operand "B.mtx"' solve A.mtx B.mtx; }
@test "an unknown option, with the nearest one" { wrong "did you mean --maxiter?" solve A.mtx --maxitr 3; }
@test "an unknown letter" { wrong "there is no option -z" solve A.mtx -z; }
@test "a value for a flag" { wrong "--quiet takes no value" solve A.mtx --quiet=yes; }
@test "no value at the end" { wrong "--tol requires a value" solve A.mtx --tol; }
@test "an option in place of a value" { wrong "--out requires a value" solve A.mtx --out --json -; }
@test "a word that is none of the choice" { wrong "it must be one of auto|diagonal|none|direct" solve A.mtx --method ilut; }
@test "an option of static factorizations without one" {
    wrong "--regularise applies only to --factorization static" solve A.mtx --regularise 1e-9
    wrong "--signs applies only to --factorization static" solve A.mtx --signs s.mtx --factorization ldlt
    wrong "--profile applies only to --device cuda" solve A.mtx --profile on --device cpu
    wrong "--device-memory applies only to a GPU" solve A.mtx --device-memory 1G --device cpu
    wrong "--profile applies to the direct solver, not to --method ldlt" solve A.mtx --profile on --method ldlt --device cuda
}
@test "an option of the direct solver with another method" {
    wrong "--check applies to the direct solver" solve A.mtx --method none --check
    wrong "--condition applies to the direct solver" solve A.mtx --method diagonal --condition
    wrong "use --method direct" solve A.mtx --krylov minres --order amd
}
@test "a device number that is none" { wrong "--device-index cannot be" solve A.mtx --device-index x; }
@test "there is only one CPU" {
    diagonal > A.mtx
    for device in auto cpu reference; do
        run -5 --separate-stderr "$SADDLE" solve A.mtx --device $device --device-index 1
        [[ $stderr == *"there is no device 1: the host is a single device, number 0"* ]]
    done
    "$SADDLE" solve A.mtx -q --device cpu --device-index 0
}
@test "a switch that is neither on nor off" { wrong "it must be one of off|on" solve A.mtx --check=yes; }
@test "a number that is none" { wrong 'cannot be "1e"' solve A.mtx --tol 1e; }
@test "a number out of its range" { wrong "must be between" solve A.mtx --tol 2; }
@test "NaN" { wrong "tol cannot be" solve A.mtx --tol nan; }
@test "a negative count" { wrong "seed" solve A.mtx --seed -3; }
@test "a count that overflows" { wrong "maxiter" solve A.mtx --maxiter 99999999999999999999; }
@test "a negative count says what is wrong with it" { wrong "nonnegative" solve A.mtx --maxiter -1; }
@test "a limit that is none, by the option's name" { wrong '--max-memory cannot be "1T"' solve A.mtx --max-memory 1T; }
@test "an empty value" { wrong "not empty" solve A.mtx --out=; }
@test "two things from standard input" { wrong "standard input" solve - --rhs -; }
@test "two things to standard output" { wrong "standard output" solve A.mtx --out - --json -; }
@test "a benchmark that is none" { wrong 'there is no benchmark "foo"' bench foo A.mtx; }
@test "a picture of an unknown kind" { wrong "curve.gif" solve A.mtx --plot curve.gif; }

@test "no JSON is written for wrong usage" {
    diagonal > A.mtx
    run -2 "$SADDLE" solve A.mtx --json out.json --tol 7
    [ ! -e out.json ]
}

@test "-- ends the options" {
    diagonal > ./--A.mtx
    run -0 "$SADDLE" solve -q --method diagonal -- --A.mtx
}

@test "the last of an option given twice counts" {
    diagonal > A.mtx
    "$SADDLE" solve A.mtx --method none --method=diagonal --json j.json -q
    json j.json 'j["method"] == "diagonal"'
}

@test "two outputs to one file: neither is lost unseen" {
    diagonal > A.mtx
    wrong "--json and --out name the same file" solve A.mtx --out both --json both
    [ ! -e both ]
    run -0 "$SADDLE" solve -q A.mtx --out /dev/null --json /dev/null
}

@test "an output that would overwrite the matrix is refused" {
    diagonal > A.mtx
    cp A.mtx B.mtx
    for option in out json plot; do
        run -2 --separate-stderr "$SADDLE" solve A.mtx --$option A.mtx
        [[ $stderr == *"overwrite the matrix"* ]]
    done
    cmp A.mtx B.mtx
}
