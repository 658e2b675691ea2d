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
  if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
    set(CMAKE_CUDA_ARCHITECTURES 80 90 CACHE STRING "Compute capabilities that the CUDA module is built for")
  endif()
  include(CheckLanguage)
  check_language(CUDA)
  if(CMAKE_CUDA_COMPILER)
    enable_language(CUDA)
    set(saddle_cuda_found "${CMAKE_CUDA_COMPILER} ${CMAKE_CUDA_COMPILER_VERSION}")
  elseif(SADDLE_CUDA STREQUAL "ON")
    message(FATAL_ERROR "SADDLE_CUDA is ON and no nvcc that works was found: set CUDACXX to it")
  else()
    set(saddle_cuda_found "no nvcc found")
  endif()
endif()

if(CMAKE_CUDA_COMPILER AND SADDLE_CUDA AND cuda_sources)
  # The library is linked with nothing of ours but the headers: what it needs of the host comes
  # through the table in backend.h. --fmad=false for the reason that saddle_flags gives.
  add_library(saddle_cuda MODULE ${cuda_sources})
  target_include_directories(saddle_cuda PRIVATE ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src)
  target_compile_features(saddle_cuda PRIVATE cuda_std_17)
  target_compile_options(saddle_cuda PRIVATE
    --fmad=false --Werror=all-warnings -Xcompiler=-Wall,-Wextra,-Wshadow,-Werror)
  target_link_options(saddle_cuda PRIVATE LINKER:--exclude-libs,ALL LINKER:--no-undefined)
  set_target_properties(saddle_cuda PROPERTIES
    CUDA_VISIBILITY_PRESET hidden CUDA_RUNTIME_LIBRARY Static CUDA_EXTENSIONS OFF)
endif()
message(STATUS "saddle: CUDA module: ${saddle_cuda_found}")
