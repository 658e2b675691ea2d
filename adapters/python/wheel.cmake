# What a wheel has inside besides the package, in the component saddle_python: libsaddle and the program, the libraries
# that they stand on except those of the C library, and all licences (bundle.cmake).

# saddle_inside_wheel(LIBRARY PROGRAM): two targets find each other, and what is copied beside them, wherever the wheel
# is unpacked. DT_RPATH, unlike DT_RUNPATH, also counts for what those libraries need themselves: so nothing has to be
# patched. A wheel has no links: the library is one file, of the name by which it is looked for.
function(saddle_inside_wheel library program)
  set_target_properties(${library} PROPERTIES VERSION 0 SOVERSION 0 INSTALL_RPATH $ORIGIN)
  set_target_properties(${program} PROPERTIES INSTALL_RPATH $ORIGIN/../lib)
  foreach(target ${library} ${program})
    set_target_properties(${target} PROPERTIES INSTALL_RPATH_USE_LINK_PATH OFF BUILD_WITH_INSTALL_RPATH ON)
    target_link_options(${target} PRIVATE LINKER:--disable-new-dtags LINKER:--strip-all)
  endforeach()
endfunction()

# saddle_install_wheel(LIBRARY PROGRAM): files, by their paths.
function(saddle_install_wheel library program)
  set(here ${CMAKE_CURRENT_FUNCTION_LIST_DIR})
  install(DIRECTORY ${here}/src/saddle DESTINATION . COMPONENT saddle_python
    FILES_MATCHING PATTERN "*.py" PATTERN py.typed PATTERN __pycache__ EXCLUDE)
  install(PROGRAMS ${library} DESTINATION saddle/lib COMPONENT saddle_python)
  install(PROGRAMS ${program} DESTINATION saddle/bin COMPONENT saddle_python)
  install(CODE "
    set(package \${CMAKE_INSTALL_PREFIX}/saddle)
    set(library ${library})
    set(licences ${here}/../../LICENSE ${here}/../../docs/third-party.md)
    include(${here}/bundle.cmake)" COMPONENT saddle_python)
endfunction()
