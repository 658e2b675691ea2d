#!/usr/bin/env bats
# The door into PETSc from the command line: programs that know nothing of Saddle load it with -dll_append.
bats_require_minimum_version 1.5.0

setup() {
    cd "$BATS_TEST_TMPDIR"
    # as root, in a container, with fewer cores than ranks
    export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
    export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
    export OMP_WAIT_POLICY=passive
    whole_stacks=${ASAN_OPTIONS:-} # slow; for the test of leaks
    export ASAN_OPTIONS=detect_leaks=0
    door=(-dll_append "$SADDLE_PETSC")
    right=(-ksp_type gmres -ksp_gmres_restart 100 -ksp_pc_side right -ksp_rtol 1e-8 -ksp_max_it 200)
    regular=(-sub_pc_saddle_on_singular regularise)
    block=(-fieldsplit_velocity_ksp_type preonly -fieldsplit_velocity_pc_type asm
           -fieldsplit_velocity_sub_pc_type saddle -fieldsplit_pressure_ksp_type preonly
           -fieldsplit_pressure_pc_type jacobi)
}

# A program of this door on some ranks.
ranks() {
    local count=$1 program=$2
    shift 2
    timeout 300 mpirun -n "$count" "$SADDLE_PETSC_BIN/$program" "${door[@]}" "$@"
}

# ... on one, without mpirun.
alone() {
    local program=$1
    shift
    "$SADDLE_PETSC_BIN/$program" "${door[@]}" "$@"
}

@test "a program that knows nothing of Saddle solves with it" {
    run -0 alone stokes -pc_type saddle "${right[@]}"
    [[ $output == *"iterations 1 "*CONVERGED_RTOL* ]]
    run -0 alone control -pc_type saddle "${right[@]}"
    [[ $output == *"iterations 1 "*CONVERGED_RTOL* ]]
}

@test "-ksp_view says what was factored, how much it filled in, and by which version" {
    run -0 alone stokes -pc_type saddle -ksp_view
    [[ $output == *"type: saddle"*"Saddle "[0-9]*"method direct"* ]]
    [[ $output == *"symmetric matrix, rows 3072"*"factor entries "*"fill ratio "* ]]
    [[ $output == *"pivots: 2048 positive, 1023 negative, 1 zero"*"regularised: 1 zero"* ]]
    [[ $output == *"seconds: prepare "*"threads 1"*"analyses 1, factorizations 1"* ]]
}

@test "-help lists every option of the library, with its help, and those of the door" {
    run -0 alone control -pc_type saddle -help
    help=$output
    for name in $("$SADDLE_BIN" solve --help | grep -oE '^ +--[a-z][a-z-]+' | tr -d ' ' | sed 's/^--//; s/-/_/g'); do
        case $name in # of the program, not of the library
        rhs | seed | out | json | plot | signs | condition | paper | quiet | verbose | help | version) continue ;;
        esac
        [[ $help == *"-pc_saddle_$name:"* || $help == *"-pc_saddle_$name <"* ]] || { echo "$name is missing"; false; }
    done
    [[ $help == *"-pc_saddle_threads <now 1 : formerly 1>"* && $help == *"-pc_saddle_on_singular <"* ]]
    [[ $help == *"auto|diagonal|none|direct"* ]]
}

@test "Cholesky of aij and of sbaij matrices" {
    for type in aij sbaij; do
        run -0 alone control -mat_type $type -ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type saddle -ksp_view
        [[ $output == *"package used to perform factorization: saddle"*"method direct"* ]]
        [[ $output == *"pivots: 2048 positive, 1024 negative, 0 zero"* ]]
        residual=$(grep -oE 'residual [0-9.e+-]+' <<<"$output" | cut -d' ' -f2)
        awk -v r="$residual" 'BEGIN { exit !(r < 1e-11) }'
    done
}

@test "options of the factorization have their own prefix" {
    run -0 alone control -ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type saddle -mat_saddle_order amd \
        -mat_saddle_krylov refine -ksp_view
    [[ $output == *"iteration refine"* ]]
    run ! alone control -pc_type cholesky -pc_factor_mat_solver_type saddle -mat_saddle_order magic
    [[ $output == *'magic'* ]]
}

@test "MINRES takes |D|, and is refused D with words on what to do" {
    run -0 alone control -ksp_type minres -pc_type saddle -pc_saddle_absolute -ksp_rtol 1e-8
    [[ $output == *"iterations "[1-4]" "*CONVERGED_RTOL* ]]
    run ! alone control -ksp_type minres -pc_type saddle
    [[ $output == *"-ksp_type minres needs a positive definite preconditioner"*"-pc_saddle_absolute"* ]]
}

@test "a distributed matrix is refused as a whole" {
    run ! ranks 2 control -pc_type saddle
    [[ $output == *"-pc_type bjacobi"* ]]
}

@test "two ranks: bjacobi, asm and fieldsplit on Stokes" {
    run -0 ranks 2 stokes "${right[@]}" -pc_type bjacobi -sub_pc_type saddle "${regular[@]}"
    [[ $output == *CONVERGED_RTOL* ]]
    run -0 ranks 2 stokes "${right[@]}" -pc_type asm -pc_asm_overlap 4 -sub_pc_type saddle "${regular[@]}"
    [[ $output == *CONVERGED_RTOL* ]]
    run -0 ranks 2 stokes "${right[@]}" -pc_type fieldsplit -pc_fieldsplit_type schur \
        -pc_fieldsplit_schur_fact_type upper "${block[@]}"
    [[ $output == *CONVERGED_RTOL* ]]
}

@test "two ranks: bjacobi, asm and fieldsplit on optimal control" {
    run -0 ranks 2 control "${right[@]}" -pc_type bjacobi -sub_pc_type saddle
    [[ $output == *CONVERGED_RTOL* ]]
    run -0 ranks 2 control "${right[@]}" -pc_type asm -pc_asm_overlap 4 -sub_pc_type cholesky \
        -sub_pc_factor_mat_solver_type saddle
    [[ $output == *CONVERGED_RTOL* ]]
    run -0 ranks 2 control "${right[@]}" -pc_type fieldsplit -pc_fieldsplit_type schur \
        -pc_fieldsplit_schur_precondition selfp -fieldsplit_multiplier_ksp_type preonly \
        -fieldsplit_multiplier_pc_type asm -fieldsplit_multiplier_sub_pc_type saddle \
        -fieldsplit_primal_ksp_type preonly -fieldsplit_primal_pc_type bjacobi -fieldsplit_primal_sub_pc_type saddle
    [[ $output == *CONVERGED_RTOL* ]]
}

@test "a block of zeros on one rank: a reason on all, or regularised" {
    run -0 ranks 2 zero_block "${right[@]}" -pc_type bjacobi -sub_pc_type saddle
    [[ $output == *DIVERGED_PC_FAILED* ]]
    run -0 ranks 2 zero_block -ksp_type fgmres -pc_type bjacobi -sub_pc_type saddle
    [[ $output == *DIVERGED_PC_FAILED* ]]
    # (on the right PETSc 3.18 hangs when a factorization fails on one rank only, its own too)
    run -0 ranks 2 zero_block -ksp_pc_side left -pc_type bjacobi -sub_pc_type cholesky -sub_pc_factor_mat_solver_type saddle
    [[ $output == *DIVERGED_PC_FAILED* ]]
    run -0 ranks 2 zero_block "${right[@]}" -pc_type bjacobi -sub_pc_type saddle "${regular[@]}"
    [[ $output == *CONVERGED_RTOL* ]]
    run -0 ranks 2 zero_block "${right[@]}" -pc_type bjacobi -sub_pc_type saddle -sub_pc_saddle_method ldlt \
        "${regular[@]}"
    [[ $output == *CONVERGED_RTOL* ]]
}

# Iterations of the program, and of PETSc with the same preconditioner, right-hand side and tolerance; `compared`
# counts. PETSc believes in the residual of its recurrence; where that is wrong, the program, which measures,
# iterates on, and there is nothing to compare.
same_iterations() {
    local ours theirs residual
    "$SADDLE_BIN" solve "$1" --method ldlt --krylov gmres --tol 1e-9 --stop residual --threads 1 --json j.json -q
    ours=$(jq .iterations j.json)
    run -0 alone file -f "$1" "${right[@]}" -ksp_rtol 1e-9 -pc_type saddle -pc_saddle_method ldlt
    [[ $output == *CONVERGED_RTOL* ]]
    theirs=$(grep -oE 'iterations [0-9]+' <<<"$output" | cut -d' ' -f2)
    residual=$(grep -oE 'residual [0-9.e+-]+' <<<"$output" | cut -d' ' -f2)
    echo "$1: $ours of the program, $theirs of PETSc, which reached $residual"
    awk -v r="$residual" 'BEGIN { exit !(r <= 1.01e-9) }' || return 0
    ((theirs - ours <= 1 && ours - theirs <= 1))
    compared=$((compared + 1))
}

@test "right GMRES takes as many iterations as in the program" {
    "$SADDLE_BIN" gen stokes2d 40 --out stokes.mtx -q
    "$SADDLE_BIN" gen pdeco2d 40 --out control.mtx -q
    "$SADDLE_BIN" gen helm2d 60 --out helmholtz.mtx -q
    compared=0
    for file in stokes.mtx control.mtx helmholtz.mtx; do same_iterations $file; done
    ((compared == 3))
}

@test "... and on systems of applications" {
    found=$(find "${SADDLE_MATRICES:-nowhere}/kkt" -name '*.mtx.gz' -size -40k 2>/dev/null | sort | head -6)
    [[ $found ]] || skip "no folder SADDLE_MATRICES"
    compared=0
    for file in $found; do same_iterations "$file"; done
    ((compared >= 3))
}

@test "nothing is left that was not freed" {
    export ASAN_OPTIONS=$whole_stacks
    run -0 --separate-stderr alone stokes -pc_type saddle -ksp_type gmres -malloc_debug -malloc_dump
    [[ $output == *CONVERGED* && $(wc -l <<<"$output") == 1 ]]
    run -0 --separate-stderr alone control -ksp_type preonly -pc_type cholesky -pc_factor_mat_solver_type saddle \
        -mat_type sbaij -malloc_debug -malloc_dump
    [[ $output == *CONVERGED* && $(wc -l <<<"$output") == 1 ]]
}
