# The benchmarks: saddle-bench, which `saddle bench` starts from beside itself, the script that draws its pictures, and
# the pages that `saddle bench reproduce` and `saddle bench standing` write. All are built with the tree and installed
# where they are asked for: `cmake --install BUILD --component bench`. The peers' drivers (peers.cmake) are programs of
# their own.
file(GLOB bench_sources CONFIGURE_DEPENDS bench/*.c bench/direct/*.c bench/ldlt/*.c bench/blocks/*.c bench/sequence/*.c
  bench/trisolve/*.c)
add_executable(saddle_bench ${bench_sources})
set_target_properties(saddle_bench PROPERTIES OUTPUT_NAME saddle-bench)
target_link_libraries(saddle_bench PRIVATE saddle_cli saddle)
configure_file(bench/plot.py ${PROJECT_BINARY_DIR}/bin/saddle-bench-plot COPYONLY)
file(GLOB_RECURSE page_sources RELATIVE ${PROJECT_SOURCE_DIR}/bench CONFIGURE_DEPENDS bench/pages/*.py bench/pages/*.css
  bench/pages/*.js)
foreach(source ${page_sources})
  configure_file(bench/${source} ${PROJECT_BINARY_DIR}/share/saddle/${source} COPYONLY)
endforeach()
if(SADDLE_INSTALL)
  install(TARGETS saddle_bench RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT bench EXCLUDE_FROM_ALL)
  install(PROGRAMS bench/plot.py DESTINATION ${CMAKE_INSTALL_BINDIR} RENAME saddle-bench-plot COMPONENT bench
    EXCLUDE_FROM_ALL)
  # The script and the program look for them at ../share from where they stand.
  install(DIRECTORY bench/pages DESTINATION ${CMAKE_INSTALL_BINDIR}/../share/saddle COMPONENT bench EXCLUDE_FROM_ALL
    USE_SOURCE_PERMISSIONS FILES_MATCHING REGEX "\\.(py|css|js)$")
endif()

# Timings of single kernels, built when asked for by name: bench_front_small, bench_front_kernels.
foreach(bench front_small front_kernels)
  add_executable(bench_${bench} EXCLUDE_FROM_ALL bench/kernels/${bench}.c)
  target_include_directories(bench_${bench} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(bench_${bench} PRIVATE saddle_internal)
  set_target_properties(bench_${bench} PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()
# And of small solves, by the public interface.
add_executable(bench_small_solve bench/kernels/small_solve.c)
target_link_libraries(bench_small_solve PRIVATE saddle_cli saddle)
set_target_properties(bench_small_solve PROPERTIES OUTPUT_NAME small_solve
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
# Incomplete factorizations, and solves with them, beside products with the matrix, by the internals.
foreach(bench incomplete triangle)
  add_executable(bench_${bench} EXCLUDE_FROM_ALL bench/kernels/${bench}.c bench/operands.c bench/problem.c
    bench/bench.c bench/child.c)
  target_link_libraries(bench_${bench} PRIVATE saddle_cli saddle_internal)
  set_target_properties(bench_${bench} PROPERTIES OUTPUT_NAME ${bench}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
endforeach()
# The direct solver on a GPU held against the CPU, for scripts/gpu-check.
add_executable(compare_direct bench/kernels/compare_direct.c bench/operands.c bench/problem.c bench/bench.c bench/child.c)
target_link_libraries(compare_direct PRIVATE saddle_cli saddle)
set_target_properties(compare_direct PROPERTIES RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
# The memory that the direct solver takes on a GPU, as predicted; built when asked for by name.
add_executable(bench_front_memory EXCLUDE_FROM_ALL bench/kernels/front_memory.c bench/operands.c bench/problem.c bench/bench.c
  bench/child.c)
target_include_directories(bench_front_memory PRIVATE ${PROJECT_SOURCE_DIR})
target_link_libraries(bench_front_memory PRIVATE saddle_cli saddle_internal)
set_target_properties(bench_front_memory PROPERTIES OUTPUT_NAME front_memory
  RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
