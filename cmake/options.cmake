# Warnings, sanitizers and floating-point rules, carried by one interface target.
add_library(platen_options INTERFACE)
target_include_directories(platen_options INTERFACE ${PROJECT_SOURCE_DIR})
# -ffp-contract=off: a fused multiply-add is written where it is meant, so every build and every
# instruction set computes the same bits. No fast-math anywhere.
target_compile_options(platen_options INTERFACE
  -Wall -Wextra -Wshadow -Wconversion -Wno-sign-conversion -ffp-contract=off
  # GCC 12 sees overlaps in std::string concatenation that are not there.
  $<$<CXX_COMPILER_ID:GNU>:-Wno-restrict>)
if(PLATEN_WERROR)
  target_compile_options(platen_options INTERFACE -Werror)
endif()
if(PLATEN_SANITIZE)
  string(REPLACE ";" "," _sanitizers "${PLATEN_SANITIZE}")
  target_compile_options(platen_options INTERFACE
    -fsanitize=${_sanitizers} -fno-sanitize-recover=all -fno-omit-frame-pointer -g)
  # oneTBB's flow graph casts its own task types in ways this check objects to.
  if("undefined" IN_LIST PLATEN_SANITIZE)
    target_compile_options(platen_options INTERFACE -fno-sanitize=vptr)
  endif()
  target_link_options(platen_options INTERFACE -fsanitize=${_sanitizers})
endif()

# platen_library(NAME SOURCES ... PUBLIC ... PRIVATE ...): a static library of ours with the common
# options. Every link edge between folders is written here and nowhere else.
function(platen_library name)
  cmake_parse_arguments(ARG "" "" "SOURCES;PUBLIC;PRIVATE" ${ARGN})
  add_library(${name} STATIC ${ARG_SOURCES})
  target_link_libraries(${name} PUBLIC platen_options ${ARG_PUBLIC} PRIVATE ${ARG_PRIVATE})
endfunction()
