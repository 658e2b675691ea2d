# Other solvers to be measured against: a driver for each that is found on this machine, in
# build/bin/peers, where `saddle bench direct` looks for them. None of them is installed, and neither the
# library nor the program is linked with a peer. scripts/packages peers installs MUMPS. Not where sanitizers
# are on: what they find in a peer is not ours.
set(saddle_peers "")

function(saddle_peer name)
  if(NOT TARGET saddle_peer_objects) # what the drivers share
    add_library(saddle_peer_objects OBJECT bench/peers/peer.c)
    target_include_directories(saddle_peer_objects PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(saddle_peer_objects PRIVATE saddle_flags)
  endif()
  add_executable(peer_${name} bench/peers/${name}.c $<TARGET_OBJECTS:saddle_peer_objects>)
  set_target_properties(peer_${name} PROPERTIES OUTPUT_NAME peer-${name}
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/peers)
  target_include_directories(peer_${name} PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(peer_${name} PRIVATE saddle saddle_flags saddle_dependencies ${ARGN})
  set(saddle_peers ${saddle_peers} ${name} PARENT_SCOPE)
endfunction()

if(SADDLE_PEERS AND NOT SADDLE_SANITIZE)
  # The library without MPI: the same code, and nothing to start. Debian puts its mpi.h apart.
  find_path(MUMPS_INCLUDE_DIR dmumps_c.h)
  find_library(MUMPS_LIBRARY NAMES dmumps_seq dmumps)
  find_path(CHOLMOD_INCLUDE_DIR cholmod.h PATH_SUFFIXES suitesparse)
  find_library(CHOLMOD_LIBRARY cholmod)
  mark_as_advanced(MUMPS_INCLUDE_DIR MUMPS_LIBRARY CHOLMOD_INCLUDE_DIR CHOLMOD_LIBRARY)
  if(MUMPS_INCLUDE_DIR AND MUMPS_LIBRARY)
    saddle_peer(mumps ${MUMPS_LIBRARY})
    target_include_directories(peer_mumps SYSTEM PRIVATE ${MUMPS_INCLUDE_DIR})
  endif()
  if(CHOLMOD_INCLUDE_DIR AND CHOLMOD_LIBRARY)
    saddle_peer(cholmod ${CHOLMOD_LIBRARY})
    target_include_directories(peer_cholmod SYSTEM PRIVATE ${CHOLMOD_INCLUDE_DIR})
  endif()
  list(LENGTH saddle_peers found)
  if(SADDLE_PEERS STREQUAL "ON" AND found LESS 2)
    message(FATAL_ERROR "SADDLE_PEERS is ON, but not all peers were found (found: ${saddle_peers}): "
      "scripts/packages peers installs MUMPS, scripts/packages CHOLMOD")
  endif()
endif()
# The kernels on batches of blocks beside LAPACK: what `saddle bench blocks` runs.
if(SADDLE_PEERS AND NOT SADDLE_SANITIZE)
  find_package(LAPACK QUIET)
  if(LAPACK_FOUND)
    add_executable(blocks_cpu bench/blocks/driver/cpu.c bench/blocks/driver/parts.c bench/blocks/driver/measure.c bench/blocks/driver/data.c)
    set_target_properties(blocks_cpu PROPERTIES OUTPUT_NAME blocks-cpu
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/peers)
    target_include_directories(blocks_cpu PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(blocks_cpu PRIVATE saddle_cli saddle_bench_kernels LAPACK::LAPACK)
    list(APPEND saddle_peers lapack)
  elseif(SADDLE_PEERS STREQUAL "ON")
    message(FATAL_ERROR "SADDLE_PEERS is ON, but LAPACK was not found: scripts/packages installs OpenBLAS, which includes it")
  endif()
endif()
if(saddle_peers)
  list(JOIN saddle_peers ", " names)
  message(STATUS "saddle: peers found: ${names}")
endif()
