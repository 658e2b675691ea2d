# What `cmake --install` puts in place: library, header, program, CUDA module, the CMake package and
# the pkg-config file by which others find them, manual page, completion, documents. The tree can be
# moved: every path in it is relative to where it stands.
include(CMakePackageConfigHelpers)

install(TARGETS saddle EXPORT saddle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/saddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} FILES_MATCHING PATTERN "*.h")
if(TARGET saddle_program)
  install(TARGETS saddle_program RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
if(TARGET saddle_cuda)
  install(TARGETS saddle_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
endif()

# Manual page and completion are printed by the program, from its tables of commands and options.
if(TARGET saddle_program AND NOT SADDLE_SANITIZE)
  set(texts)
  foreach(text man/saddle.1 bash/saddle zsh/_saddle)
    get_filename_component(form ${text} DIRECTORY)
    set(file ${CMAKE_BINARY_DIR}/generated/${text})
    file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/generated/${form})
    add_custom_command(OUTPUT ${file} COMMAND saddle_program manual ${form} > ${file}
      DEPENDS saddle_program VERBATIM)
    list(APPEND texts ${file})
  endforeach()
  add_custom_target(saddle_texts ALL DEPENDS ${texts})
  install(FILES ${CMAKE_BINARY_DIR}/generated/man/saddle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${CMAKE_BINARY_DIR}/generated/bash/saddle
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${CMAKE_BINARY_DIR}/generated/zsh/_saddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/saddle)
install(EXPORT saddle NAMESPACE saddle:: FILE saddleTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/saddleConfig.cmake.in ${CMAKE_BINARY_DIR}/generated/saddleConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${CMAKE_BINARY_DIR}/generated/saddleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/generated/saddleConfig.cmake
  ${CMAKE_BINARY_DIR}/generated/saddleConfigVersion.cmake DESTINATION ${package_folder})

file(RELATIVE_PATH saddle_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" saddle_pc_prefix ${saddle_pc_prefix})
configure_file(cmake/saddle.pc.in ${CMAKE_BINARY_DIR}/generated/saddle.pc @ONLY)
install(FILES ${CMAKE_BINARY_DIR}/generated/saddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE README.md CHANGELOG.md docs/third-party.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
