# C++, a language of a few folders of tests only, from the same maker as C: CMake's own choice would be the
# system's, and two choices in one project make it begin again without the variables of a preset.
#
#     saddle_enable_cxx()    sets saddle_cxx to the compiler; empty: there is none
macro(saddle_enable_cxx)
  set(saddle_cxx ${CMAKE_CXX_COMPILER})
  if(NOT saddle_cxx)
    get_filename_component(cxx_folder ${CMAKE_C_COMPILER} DIRECTORY)
    get_filename_component(cxx_name ${CMAKE_C_COMPILER} NAME)
    string(REGEX REPLACE "^(.*)(clang|gcc|cc)(.*)$" "\\1\\2++\\3" cxx_name ${cxx_name})
    string(REGEX REPLACE "gcc[+][+]" "g++" cxx_name ${cxx_name})
    string(REGEX REPLACE "(^|[^c])cc[+][+]" "\\1c++" cxx_name ${cxx_name})
    find_program(SADDLE_CXX NAMES ${cxx_name} HINTS ${cxx_folder})
    mark_as_advanced(SADDLE_CXX)
    if(SADDLE_CXX)
      set(saddle_cxx ${SADDLE_CXX})
      set(CMAKE_CXX_COMPILER ${SADDLE_CXX})
    endif()
  endif()
  if(saddle_cxx)
    set(CMAKE_CXX_FLAGS_RELWITHDEBINFO "${CMAKE_C_FLAGS_RELWITHDEBINFO}" CACHE STRING "as for C")
    enable_language(CXX)
  endif()
endmacro()
