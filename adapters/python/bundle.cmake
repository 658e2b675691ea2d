# Copies what `library` needs, except what every Linux has, into `package`/lib under the names by which it is asked for,
# and the licences that the distribution gives for each into `package`/licences. Run when a wheel is installed.
file(GET_RUNTIME_DEPENDENCIES LIBRARIES ${library} RESOLVED_DEPENDENCIES_VAR resolved
  UNRESOLVED_DEPENDENCIES_VAR missing
  PRE_EXCLUDE_REGEXES "^ld-linux.*" "^lib(c|m|dl|rt|pthread|gcc_s)\\.so.*" "^libsaddle\\.so.*")
if(missing)
  message(FATAL_ERROR "saddle: a library of the wheel was not found: ${missing}")
endif()
file(COPY ${licences} DESTINATION ${package}/licences)
foreach(path ${resolved})
  get_filename_component(name ${path} NAME)
  file(REAL_PATH ${path} real)
  message(STATUS "saddle: into the wheel goes ${real}")
  file(COPY_FILE ${real} ${package}/lib/${name})
  file(CHMOD ${package}/lib/${name} PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE
    WORLD_READ WORLD_EXECUTE)
  # Debian: the package that a file is of has its copyright in /usr/share/doc. dpkg knows a file by one of the two
  # names that /lib and /usr/lib have.
  string(REGEX REPLACE "^/usr/lib/" "/lib/" other ${real})
  foreach(file ${real} ${other})
    execute_process(COMMAND dpkg-query -S ${file} OUTPUT_VARIABLE owner ERROR_QUIET RESULT_VARIABLE status)
    if(status EQUAL 0)
      string(REGEX REPLACE ":.*" "" owner ${owner})
      if(EXISTS /usr/share/doc/${owner}/copyright)
        file(COPY_FILE /usr/share/doc/${owner}/copyright ${package}/licences/${owner}.txt)
      endif()
      break()
    endif()
  endforeach()
endforeach()
