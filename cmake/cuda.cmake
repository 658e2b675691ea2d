# The CUDA module: a library of its own, which libsaddle loads at run time where there is a GPU. It
# is built where nvcc is found (SADDLE_CUDA=AUTO), and nothing else changes where it is not.
set(saddle_cuda_found "off")
file(GLOB cuda_sources CONFIGURE_DEPENDS src/backend/cuda/*.cu)

if(SADDLE_CUDA AND cuda_sources)
  # CMake looks for nvcc on the PATH only; it usually stands in /usr/local/cuda.
  find_program(SADDLE_NVCC nvcc HINTS ENV CUDACXX ENV CUDA_HOME ENV CUDA_PATH /usr/local/cuda PATH_SUFFIXES bin)
  mark_as_advanced(SADDLE_NVCC)
  if(SADDLE_NVCC AND NOT DEFINED ENV{CUDACXX})
    set(ENV{CUDACXX} ${SADDLE_NVCC})
  endif()
  if(SADDLE_CUDA_DRAFT)
    set(CMAKE_CUDA_ARCHITECTURES 90-real)
  elseif(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80-virtual 90-real) # of this folder, like the rest of CMAKE_ here
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(saddle_cuda_found "${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}")
  elseif(SADDLE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SADDLE_CUDA is ON, but no working nvcc was found: set CUDACXX to its path")
  else()
    set(saddle_cuda_found "no nvcc found")
  endif()
endif()

if(CMAKE_CUDA_COMPILER AND SADDLE_CUDA AND cuda_sources)
  # The module is linked with nothing of ours but the headers, and with copies of src/plan/eviction.c and layout.c: what
  # else it needs of the host comes through the table in backend.h. --fmad=false for the reason that saddle_flags gives.
  add_library(saddle_cuda_flags INTERFACE)
  target_include_directories(saddle_cuda_flags INTERFACE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(saddle_cuda_flags INTERFACE cuda_std_17)
  # Kernels of many sizes are alike: compressed they take a third.
  target_compile_options(saddle_cuda_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--fmad=false
    --compress-mode=$<IF:$<BOOL:${SADDLE_CUDA_DRAFT}>,none,size> -Xcompiler=-Wall,-Wextra,-Wshadow$<$<BOOL:${SADDLE_WERROR}>:,-Werror>>)
  if(SADDLE_CUDA_DRAFT AND CMAKE_CUDA_COMPILER_VERSION VERSION_GREATER_EQUAL 13)
    target_compile_options(saddle_cuda_flags INTERFACE $<$<COMPILE_LANGUAGE:CUDA>:--Ofast-compile=max>)
  endif()
  set(CMAKE_CUDA_VISIBILITY_PRESET hidden)
  set(CMAKE_CUDA_RUNTIME_LIBRARY Static)
  set(CMAKE_CUDA_EXTENSIONS OFF)

  add_library(saddle_cuda_objects OBJECT ${cuda_sources} src/plan/eviction.c src/plan/layout.c)
  set_target_properties(saddle_cuda_objects PROPERTIES C_VISIBILITY_PRESET hidden POSITION_INDEPENDENT_CODE ON)
  set_source_files_properties(src/backend/cuda/vectors.cu PROPERTIES COMPILE_OPTIONS --extended-lambda)
  target_link_libraries(saddle_cuda_objects PRIVATE saddle_cuda_flags)
  add_library(saddle_cuda MODULE $<TARGET_OBJECTS:saddle_cuda_objects>)
  set_target_properties(saddle_cuda PROPERTIES LINKER_LANGUAGE CUDA INSTALL_RPATH "")
  target_link_options(saddle_cuda PRIVATE LINKER:--exclude-libs,ALL LINKER:--no-undefined LINKER:--as-needed)

  if(SADDLE_BENCH)
    add_executable(cuda_kernels bench/kernels/cuda_kernels.cu $<TARGET_OBJECTS:saddle_cuda_objects>)
    target_link_libraries(cuda_kernels PRIVATE saddle_cuda_flags)
    add_executable(cuda_krylov bench/kernels/cuda_krylov.c)
    target_include_directories(cuda_krylov PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(cuda_krylov PRIVATE saddle_cli saddle_internal)
    add_executable(cuda_ldlt bench/kernels/cuda_ldlt.c bench/problem.c)
    target_include_directories(cuda_ldlt PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(cuda_ldlt PRIVATE saddle_cli saddle_internal)
    add_executable(cuda_solve bench/kernels/cuda_solve.c)
    target_include_directories(cuda_solve PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(cuda_solve PRIVATE saddle_cli saddle_internal)
    set_target_properties(cuda_kernels cuda_krylov cuda_ldlt cuda_solve PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
  endif()

  # The same module with the kernels on batches that only the benchmark and its tests have.
  file(GLOB bench_cuda_sources CONFIGURE_DEPENDS bench/kernels/cuda/*.cu)
  add_library(saddle_bench_cuda MODULE ${bench_cuda_sources} $<TARGET_OBJECTS:saddle_cuda_objects>)
  target_include_directories(saddle_bench_cuda PRIVATE ${PROJECT_SOURCE_DIR})
  target_link_libraries(saddle_bench_cuda PRIVATE saddle_cuda_flags)
  target_link_options(saddle_bench_cuda PRIVATE LINKER:--exclude-libs,ALL LINKER:--no-undefined LINKER:--as-needed)

  # What `saddle bench blocks --device cuda` runs. cuBLAS and cuSOLVER are loaded when it runs; of the toolkit
  # only their headers are needed.
  find_path(SADDLE_CUSOLVER_INCLUDE_DIR cusolverDn.h HINTS ${CMAKE_CUDA_TOOLKIT_INCLUDE_DIRECTORIES})
  mark_as_advanced(SADDLE_CUSOLVER_INCLUDE_DIR)
  if(SADDLE_PEERS AND SADDLE_CUSOLVER_INCLUDE_DIR)
    add_library(saddle_blocks_objects OBJECT bench/blocks/driver/parts.c bench/blocks/driver/measure.c bench/blocks/driver/data.c
      cli/numbers.c)
    target_include_directories(saddle_blocks_objects PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(saddle_blocks_objects PRIVATE saddle_flags)
    add_executable(blocks_cuda bench/blocks/driver/cuda.cu $<TARGET_OBJECTS:saddle_blocks_objects>)
    add_dependencies(blocks_cuda saddle_bench_cuda) # which it loads
    set_target_properties(blocks_cuda PROPERTIES OUTPUT_NAME blocks-cuda
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin/peers)
    target_include_directories(blocks_cuda PRIVATE ${PROJECT_SOURCE_DIR})
    target_include_directories(blocks_cuda SYSTEM PRIVATE ${SADDLE_CUSOLVER_INCLUDE_DIR})
    target_link_libraries(blocks_cuda PRIVATE saddle_cuda_flags $<LINK_ONLY:saddle_bench_kernels> ${CMAKE_DL_LIBS})
  endif()
endif()
message(STATUS "saddle: CUDA module: ${saddle_cuda_found}")
