#!/usr/bin/env bash
# The examples (Stokes, optimal control) on 1, 2 and 4 ranks with Saddle inside bjacobi, asm and fieldsplit: a
# table of ranks, iterations, the true residual and seconds. MUMPS, a direct solver that is itself distributed,
# is there to compare with. Right or flexible GMRES(100) to a relative residual of 1e-8.
#
#     adapters/petsc/bench/ranks.sh [-n CELLS] [-r "1 2 4"] [-p "stokes control"] [-s "asm ..."] [BUILD]
#
# BUILD is the folder of the build (build). Each run gets 10 minutes at most (-t SECONDS).
set -uo pipefail
cells=200 counts="1 2 4" problems="stokes control" settings="direct bjacobi asm asm-ldlt fieldsplit fieldsplit-cg mumps" limit=600
while getopts n:r:p:s:t: option; do
    case $option in
    n) cells=$OPTARG ;;
    r) counts=$OPTARG ;;
    p) problems=$OPTARG ;;
    s) settings=$OPTARG ;;
    t) limit=$OPTARG ;;
    *) exit 2 ;;
    esac
done
shift $((OPTIND - 1))
build=${1:-build}
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
export OMPI_MCA_btl_vader_single_copy_mechanism=none

# The options of a setting for a problem; none where it has none.
options() {
    local problem=$1 setting=$2 sub=(-sub_pc_type saddle)
    local gmres=(-ksp_type gmres -ksp_pc_side right) flexible=(-ksp_type fgmres)
    [[ $problem == stokes ]] && sub+=(-sub_pc_saddle_on_singular regularise)
    case $problem/$setting in
    */direct) echo "${gmres[@]}" -pc_type saddle ;;
    */bjacobi) echo "${gmres[@]}" -pc_type bjacobi "${sub[@]}" ;;
    */asm) echo "${gmres[@]}" -pc_type asm -pc_asm_overlap 4 "${sub[@]}" ;;
    */asm-ldlt) echo "${gmres[@]}" -pc_type asm -pc_asm_overlap 4 "${sub[@]}" -sub_pc_saddle_method ldlt ;;
    stokes/fieldsplit*)
        echo "${flexible[@]}" -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_fact_type upper \
            -fieldsplit_pressure_ksp_type preonly -fieldsplit_pressure_pc_type jacobi \
            -fieldsplit_velocity_pc_type asm -fieldsplit_velocity_pc_asm_overlap 4 \
            -fieldsplit_velocity_pc_asm_type basic -fieldsplit_velocity_sub_pc_type saddle
        if [[ $setting == fieldsplit-cg ]]; then
            echo -fieldsplit_velocity_ksp_type cg -fieldsplit_velocity_ksp_rtol 1e-2
        else
            echo -fieldsplit_velocity_ksp_type preonly
        fi
        ;;
    control/fieldsplit)
        echo "${flexible[@]}" -pc_type fieldsplit -pc_fieldsplit_type schur -pc_fieldsplit_schur_precondition selfp \
            -fieldsplit_primal_ksp_type preonly -fieldsplit_primal_pc_type jacobi \
            -fieldsplit_multiplier_ksp_type preonly -fieldsplit_multiplier_pc_type asm \
            -fieldsplit_multiplier_pc_asm_overlap 4 -fieldsplit_multiplier_sub_pc_type saddle
        ;;
    */mumps) echo "${gmres[@]}" -pc_type cholesky -pc_factor_mat_solver_type mumps -mat_mumps_icntl_24 1 -mat_mumps_icntl_14 500 ;;
    esac
}

printf '| problem | n | setting | ranks | iterations | residual | setup s | solve s | |\n|---|--:|---|--:|--:|--:|--:|--:|---|\n'
for problem in $problems; do
    for setting in $settings; do
        for count in $counts; do
            read -ra chosen <<<"$(options "$problem" "$setting" | tr '\n' ' ')"
            [[ ${#chosen[@]} == 0 || ($setting == direct && $count != 1) ]] && continue
            line=$(timeout "$limit" mpirun -n "$count" "$build/bin/petsc/$problem" -n "$cells" \
                -dll_append "$build/lib/libsaddle_petsc.so" -ksp_rtol 1e-8 -ksp_max_it 1000 -ksp_gmres_restart 100 -ksp_gmres_cgs_refinement_type refine_ifneeded \
                "${chosen[@]}" 2>/dev/null | grep "^$problem ")
            awk -v setting="$setting" -v count="$count" -v problem="$problem" '
                NF { printf "| %s | %d | %s | %d | %d | %s | %.2f | %.2f | %s |\n", problem, $3, setting, $5, $7, $9, $11, $14, $16 }
                !NF { printf "| %s | | %s | %d | | | | | no result |\n", problem, setting, count }' <<<"$line"
        done
    done
done
