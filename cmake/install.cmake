# What `cmake --install` puts in place: libraries, header, program, CUDA module, the CMake package and
# the pkg-config file by which others find them, manual page, completion, documents. The tree can be
# moved: every path in it is relative to where it stands.
include(CMakePackageConfigHelpers)

# Two sets of targets: only who links the static library has to have what it stands on.
install(TARGETS saddle EXPORT saddle LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(TARGETS saddle_static EXPORT saddle_static ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR}
  INCLUDES DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
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
    set(file ${PROJECT_BINARY_DIR}/generated/${text})
    file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/generated/${form})
    add_custom_command(OUTPUT ${file} COMMAND saddle_program manual ${form} > ${file}
      DEPENDS saddle_program VERBATIM)
    list(APPEND texts ${file})
  endforeach()
  add_custom_target(saddle_texts ALL DEPENDS ${texts})
  install(FILES ${PROJECT_BINARY_DIR}/generated/man/saddle.1 DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
  install(FILES ${PROJECT_BINARY_DIR}/generated/bash/saddle
    DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
  install(FILES ${PROJECT_BINARY_DIR}/generated/zsh/_saddle DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
endif()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/saddle)
install(EXPORT saddle NAMESPACE saddle:: FILE saddleTargets.cmake DESTINATION ${package_folder})
install(EXPORT saddle_static NAMESPACE saddle:: FILE saddleStaticTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(cmake/saddleConfig.cmake.in ${PROJECT_BINARY_DIR}/generated/saddleConfig.cmake
  INSTALL_DESTINATION ${package_folder} NO_SET_AND_CHECK_MACRO)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/generated/saddleConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/generated/saddleConfig.cmake
  ${PROJECT_BINARY_DIR}/generated/saddleConfigVersion.cmake DESTINATION ${package_folder})
install(FILES cmake/dependencies.cmake RENAME saddleDependencies.cmake DESTINATION ${package_folder})

file(RELATIVE_PATH saddle_pc_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" saddle_pc_prefix ${saddle_pc_prefix})
# Libs.private: a library in a folder that the linker searches by itself by its name, another one by its path.
get_target_property(saddle_pc_libraries saddle_dependencies INTERFACE_LINK_LIBRARIES)
list(TRANSFORM saddle_pc_libraries REPLACE "^([a-z]+)$" "-l\\1")
foreach(folder ${CMAKE_C_IMPLICIT_LINK_DIRECTORIES})
  list(TRANSFORM saddle_pc_libraries REPLACE "^${folder}/lib([^/]+)\\.(so|a)$" "-l\\1")
endforeach()
list(JOIN saddle_pc_libraries " " saddle_pc_libraries)
configure_file(cmake/saddle.pc.in ${PROJECT_BINARY_DIR}/generated/saddle.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/generated/saddle.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

install(FILES LICENSE README.md CHANGELOG.md docs/third-party.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
