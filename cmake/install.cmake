# What `cmake --install` puts in place.
install(TARGETS saddle)
install(DIRECTORY include/saddle DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
if(TARGET saddle_program)
  install(TARGETS saddle_program)
endif()
