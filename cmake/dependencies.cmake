# What the library stands on: zlib, OpenMP, a BLAS, METIS, AMD. It is looked for here when Saddle is built, and
# again by saddleConfig.cmake for whoever links the static library.
#
#     saddle_find_dependencies(TARGET [IMPORTED])
#
# makes TARGET, which carries their headers and libraries, and sets saddle_missing to a sentence for what is not
# there (empty: all is) and saddle_blas_vendor to the BLA_VENDOR that was preferred (empty: the caller's choice).
#
# The BLAS is the caller's where he has said anything: a target BLAS::BLAS, BLAS_LIBRARIES, or BLA_VENDOR (also
# in the environment). Otherwise it is OpenBLAS by preference; any other will do, since src/backend/blas.c finds
# out at run time which it is.
function(saddle_find_dependencies target)
  set(missing "")
  set(vendor "")
  find_package(ZLIB QUIET)
  if(NOT ZLIB_FOUND)
    set(missing "zlib is not there")
  endif()
  find_package(OpenMP QUIET)
  set(openmp ${OpenMP_C_LIBRARIES})
  if(NOT OpenMP_C_FOUND)
    set(openmp ${OpenMP_CXX_LIBRARIES})
  endif()
  if(NOT OpenMP_C_FOUND AND NOT OpenMP_CXX_FOUND)
    set(missing "the compiler has no OpenMP, or neither C nor C++ is enabled")
  endif()

  if(TARGET BLAS::BLAS)
    set(blas BLAS::BLAS)
  elseif(BLAS_LIBRARIES)
    set(blas ${BLAS_LIBRARIES})
  else()
    if(NOT BLA_VENDOR AND "$ENV{BLA_VENDOR}" STREQUAL "")
      set(vendor OpenBLAS)
      set(BLA_VENDOR OpenBLAS)
      find_package(BLAS QUIET)
      if(NOT BLAS_FOUND)
        set(vendor "")
        set(BLA_VENDOR All)
      endif()
    endif()
    if(NOT BLAS_FOUND)
      find_package(BLAS QUIET)
    endif()
    if(NOT BLAS_FOUND)
      set(missing "a BLAS (BLA_VENDOR \"${BLA_VENDOR}\") is not there")
    endif()
    set(blas ${BLAS_LINKER_FLAGS} ${BLAS_LIBRARIES})
  endif()

  # Neither ships a CMake package everywhere.
  foreach(name METIS AMD)
    string(TOLOWER ${name} lower)
    find_path(${name}_INCLUDE_DIR ${lower}.h PATH_SUFFIXES suitesparse)
    find_library(${name}_LIBRARY ${lower})
    mark_as_advanced(${name}_INCLUDE_DIR ${name}_LIBRARY)
    if(NOT ${name}_INCLUDE_DIR OR NOT ${name}_LIBRARY)
      set(missing "${name} is not there (or set ${name}_INCLUDE_DIR and ${name}_LIBRARY)")
    endif()
  endforeach()

  set(saddle_missing "${missing}" PARENT_SCOPE)
  set(saddle_blas_vendor "${vendor}" PARENT_SCOPE)
  if(missing)
    return()
  endif()
  add_library(${target} INTERFACE ${ARGN})
  target_include_directories(${target} SYSTEM INTERFACE
    ${ZLIB_INCLUDE_DIRS} ${METIS_INCLUDE_DIR} ${AMD_INCLUDE_DIR})
  target_link_libraries(${target} INTERFACE
    ${ZLIB_LIBRARIES} ${blas} ${METIS_LIBRARY} ${AMD_LIBRARY} ${openmp} m ${CMAKE_DL_LIBS})
endfunction()
