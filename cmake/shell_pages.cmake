# Man pages and shell completion, printed by the program that was built.
set(_pages ${PROJECT_BINARY_DIR}/pages)
file(MAKE_DIRECTORY ${_pages})

# shell_page(FILE COMMAND...): FILE is what `platen COMMAND...` prints; a name ending in .gz, packed
# without name and time.
function(shell_page file)
  string(JOIN " " _words ${ARGN})
  set(_pack "")
  if(file MATCHES "\\.gz$")
    set(_pack "| gzip -9n")
  endif()
  add_custom_command(OUTPUT ${_pages}/${file}
    COMMAND bash -o pipefail -c
      "$<SHELL_PATH:$<TARGET_FILE:platen>> ${_words} ${_pack} > ${_pages}/${file}.new"
    COMMAND ${CMAKE_COMMAND} -E rename ${_pages}/${file}.new ${_pages}/${file}
    DEPENDS platen
    COMMENT "platen ${_words}"
    VERBATIM)
  set_property(GLOBAL APPEND PROPERTY PLATEN_PAGES ${_pages}/${file})
endfunction()

shell_page(platen.1.gz help --man)
shell_page(platen-fetch.1.gz help --man fetch)
shell_page(platen-tune-mtp.1.gz help --man tune-mtp)
shell_page(platen.bash completion bash)
shell_page(platen.fish completion fish)
shell_page(_platen completion zsh)
get_property(_all_pages GLOBAL PROPERTY PLATEN_PAGES)
add_custom_target(shell_pages ALL DEPENDS ${_all_pages})
# Of the program that platen tune-mtp starts.
file(CREATE_LINK platen-tune-mtp.1.gz ${_pages}/platen-tune.1.gz SYMBOLIC)
