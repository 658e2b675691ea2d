# Other solvers to be measured against: a driver for each that is found on this machine, in
# build/bin/peers, where `saddle bench direct` looks for them. None of them is installed, and neither the
# library nor the program is linked with a peer. scripts/packages peers installs MUMPS; CONTRIBUTING.md says
# how QDLDL and MKL are had from PyPI. Not where sanitizers are on: what they find in a peer is not ours.
set(SADDLE_QDLDL "" CACHE PATH "Folder with QDLDL's source, for its driver: that of the source package of PyPI")
set(SADDLE_MKL "" CACHE PATH "Folder with lib/libmkl_rt.so, for the driver of PARDISO: a virtual environment, MKLROOT")
set(SADDLE_CUDSS "" CACHE PATH "Folder with include/cudss.h and lib/libcudss.so, for its driver: nvidia/cu13 of PyPI's package")
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
  # First what is the peer's: if it has a METIS of another make than ours, it finds that one first.
  target_link_libraries(peer_${name} PRIVATE ${ARGN} saddle saddle_flags saddle_dependencies)
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
  if(SADDLE_PEERS STREQUAL "ON" AND NOT (TARGET peer_mumps AND TARGET peer_cholmod))
    message(FATAL_ERROR "SADDLE_PEERS is ON, but not all peers were found (found: ${saddle_peers}): "
      "scripts/packages peers installs MUMPS, scripts/packages CHOLMOD")
  endif()
  # QDLDL has two files that its own CMake makes from a few words; a whole subproject would bring its options.
  # NO_CACHE: another folder may be named later.
  find_path(qdldl_source src/qdldl.c PATHS ${SADDLE_QDLDL} PATH_SUFFIXES c/qdldl NO_CACHE NO_DEFAULT_PATH)
  if(qdldl_source)
    file(STRINGS ${qdldl_source}/CMakeLists.txt qdldl_words REGEX "set\\(QDLDL_VERSION_[A-Z]+ \"")
    foreach(part MAJOR MINOR PATCH)
      string(REGEX REPLACE ".*QDLDL_VERSION_${part} \"([0-9]+).*" "\\1" QDLDL_VERSION_${part} "${qdldl_words}")
    endforeach()
    set(QDLDL_INT_TYPE int)
    set(QDLDL_INT_TYPE_MAX INT_MAX)
    set(QDLDL_FLOAT_TYPE double)
    set(QDLDL_BOOL_TYPE "unsigned char")
    foreach(header qdldl_types qdldl_version)
      configure_file(${qdldl_source}/configure/${header}.h.in ${PROJECT_BINARY_DIR}/qdldl/${header}.h)
    endforeach()
    add_library(saddle_qdldl STATIC ${qdldl_source}/src/qdldl.c)
    target_include_directories(saddle_qdldl SYSTEM PUBLIC ${qdldl_source}/include ${PROJECT_BINARY_DIR}/qdldl)
    set_target_properties(saddle_qdldl PROPERTIES COMPILE_WARNING_AS_ERROR OFF)
    saddle_peer(qdldl saddle_qdldl)
  elseif(SADDLE_QDLDL)
    message(FATAL_ERROR "SADDLE_QDLDL is ${SADDLE_QDLDL}, but there is no src/qdldl.c and no c/qdldl/src/qdldl.c")
  endif()
  # PyPI's package has no libmkl_rt.so, only the name with its number.
  find_library(mkl_library NAMES mkl_rt libmkl_rt.so.3 libmkl_rt.so.2 PATHS ${SADDLE_MKL} $ENV{MKLROOT}
    PATH_SUFFIXES lib lib/intel64 NO_CACHE NO_DEFAULT_PATH)
  if(mkl_library)
    saddle_peer(pardiso ${mkl_library})
  elseif(SADDLE_MKL)
    message(FATAL_ERROR "SADDLE_MKL is ${SADDLE_MKL}, but there is no lib/libmkl_rt.so")
  endif()
  # SPRAL's own library: nothing of it is needed to compile.
  find_library(SADDLE_SPRAL spral DOC "SPRAL's own library, libspral.so, to compare with")
  if(SADDLE_SPRAL)
    saddle_peer(ssids ${SADDLE_SPRAL})
  endif()
  # Drivers for a GPU want CUDA's runtime, no compiler for it. PyPI's package of cuDSS has no libcudss.so, only
  # the name with its number; what that needs in turn is found where it runs.
  find_path(SADDLE_CUDART_INCLUDE_DIR cuda_runtime_api.h HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES} ENV CUDA_HOME
    ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES include)
  find_library(SADDLE_CUDART_LIBRARY cudart_static HINTS ${SADDLE_CUDART_INCLUDE_DIR}/.. PATH_SUFFIXES lib64 lib)
  mark_as_advanced(SADDLE_CUDART_INCLUDE_DIR SADDLE_CUDART_LIBRARY)
  find_library(cudss_library NAMES cudss libcudss.so.1 libcudss.so.0 PATHS ${SADDLE_CUDSS} PATH_SUFFIXES lib
    lib64 NO_CACHE NO_DEFAULT_PATH)
  if(cudss_library AND SADDLE_CUDART_INCLUDE_DIR AND SADDLE_CUDART_LIBRARY)
    saddle_peer(cudss ${cudss_library} ${SADDLE_CUDART_LIBRARY} ${CMAKE_DL_LIBS} rt)
    target_include_directories(peer_cudss SYSTEM PRIVATE ${SADDLE_CUDSS}/include ${SADDLE_CUDART_INCLUDE_DIR})
    target_link_options(peer_cudss PRIVATE LINKER:--allow-shlib-undefined)
  elseif(SADDLE_CUDSS)
    message(FATAL_ERROR "SADDLE_CUDSS is ${SADDLE_CUDSS}, but there is no lib/libcudss.so, or no CUDA runtime to link with")
  endif()
  # cuSPARSE's driver makes its problems itself, which would be large files.
  find_library(SADDLE_CUSPARSE_LIBRARY cusparse HINTS ${SADDLE_CUDART_INCLUDE_DIR}/.. PATH_SUFFIXES lib64 lib)
  find_library(SADDLE_CUBLAS_LIBRARY cublas HINTS ${SADDLE_CUDART_INCLUDE_DIR}/.. PATH_SUFFIXES lib64 lib)
  mark_as_advanced(SADDLE_CUSPARSE_LIBRARY SADDLE_CUBLAS_LIBRARY)
  if(SADDLE_CUSPARSE_LIBRARY AND SADDLE_CUBLAS_LIBRARY AND SADDLE_CUDART_INCLUDE_DIR AND SADDLE_CUDART_LIBRARY)
    add_executable(peer_cusparse bench/peers/cusparse.c bench/problem.c)
    set_target_properties(peer_cusparse PROPERTIES OUTPUT_NAME peer-cusparse
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/peers)
    target_include_directories(peer_cusparse PRIVATE ${PROJECT_SOURCE_DIR})
    target_include_directories(peer_cusparse SYSTEM PRIVATE ${SADDLE_CUDART_INCLUDE_DIR})
    target_compile_definitions(peer_cusparse PRIVATE DISABLE_CUSPARSE_DEPRECATED) # csric02 is
    target_link_libraries(peer_cusparse PRIVATE saddle_cli saddle saddle_flags ${SADDLE_CUSPARSE_LIBRARY}
      ${SADDLE_CUBLAS_LIBRARY} ${SADDLE_CUDART_LIBRARY} ${CMAKE_DL_LIBS} pthread rt m)
    target_link_options(peer_cusparse PRIVATE LINKER:--allow-shlib-undefined)
  endif()
  if(CMAKE_CUDA_COMPILER AND SADDLE_CUDART_INCLUDE_DIR AND SADDLE_CUDART_LIBRARY)
    add_executable(peer_card bench/peers/card.c)
    set_target_properties(peer_card PROPERTIES OUTPUT_NAME peer-card
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/peers)
    target_include_directories(peer_card PRIVATE ${PROJECT_SOURCE_DIR}/include)
    target_include_directories(peer_card SYSTEM PRIVATE ${SADDLE_CUDART_INCLUDE_DIR})
    target_link_libraries(peer_card PRIVATE saddle_flags ${SADDLE_CUDART_LIBRARY} ${CMAKE_DL_LIBS} pthread rt m)
  endif()
endif()
# SciPy's factorizations: scripts, which say so where there is no SciPy. So is the driver of SYM-ILDL, which runs a
# program; the environment (SADDLE_SYMILDL) may name another one.
if(SADDLE_PEERS)
  foreach(script spilu superlu)
    configure_file(bench/peers/${script}.py ${PROJECT_BINARY_DIR}/bin/peers/peer-${script} COPYONLY)
  endforeach()
  find_program(SADDLE_SYMILDL ldl_driver DOC "SYM-ILDL's program, ldl_driver, to compare with")
  if(NOT SADDLE_SYMILDL)
    set(SADDLE_SYMILDL "") # of this scope: what the driver is given
  elseif(NOT EXISTS ${SADDLE_SYMILDL})
    message(FATAL_ERROR "SADDLE_SYMILDL is ${SADDLE_SYMILDL}, but there is no such program")
  endif()
  configure_file(bench/peers/symildl.py ${PROJECT_BINARY_DIR}/bin/peers/peer-symildl @ONLY)
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
    saddle_peer(lapack LAPACK::LAPACK)
  elseif(SADDLE_PEERS STREQUAL "ON")
    message(FATAL_ERROR "SADDLE_PEERS is ON, but LAPACK was not found: scripts/packages installs OpenBLAS, which includes it")
  endif()
endif()
if(saddle_peers)
  list(JOIN saddle_peers ", " names)
  message(STATUS "saddle: peers found: ${names}")
endif()
