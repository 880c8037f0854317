# platen_compile_alone(NAME OPTIONS ... HEADERS ...): an object library that compiles each header as
# the only thing its file includes, so that a header which lacks an include fails the build, and
# tools that read compile_commands.json know its flags. OPTIONS are compiler options.
function(platen_compile_alone name)
  cmake_parse_arguments(ARG "" "" "OPTIONS;HEADERS" ${ARGN})
  set(_sources)
  foreach(_header IN LISTS ARG_HEADERS)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_SOURCE_DIR BASE_DIRECTORY ${PROJECT_SOURCE_DIR}
      OUTPUT_VARIABLE _folder)
    set(_source ${CMAKE_CURRENT_BINARY_DIR}/${name}/${_header}.cc)
    file(CONFIGURE OUTPUT ${_source} CONTENT "#include \"${_folder}/${_header}\"\n")
    list(APPEND _sources ${_source})
  endforeach()
  add_library(${name} OBJECT ${_sources})
  target_link_libraries(${name} PRIVATE platen_options)
  target_compile_options(${name} PRIVATE ${ARG_OPTIONS})
endfunction()
