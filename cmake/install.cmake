# `cmake --install`: the program with the bundled model, example configurations, man pages, shell
# completion and services; the library; and what find_package(platen) and pkg-config need. The
# components program, library and dev are the packages of cmake/package.cmake.
include(CMakePackageConfigHelpers)
include(cmake/shell_pages.cmake)
set(_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/platen)
set(_bash_dir ${CMAKE_INSTALL_DATADIR}/bash-completion/completions)
set(_fish_dir ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
# Where Debian's zsh looks, below /usr and elsewhere.
set(_zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
if(CMAKE_INSTALL_PREFIX STREQUAL "/usr")
  set(_zsh_dir ${CMAKE_INSTALL_DATADIR}/zsh/vendor-completions)
endif()
set(_man_dir ${CMAKE_INSTALL_MANDIR}/man1)
set(_unit_dir lib/systemd/system)
set(_users_dir lib/sysusers.d)

# Folders that this installation makes go again with it: cmake/uninstall.cmake.
set(_install_dirs ${CMAKE_INSTALL_BINDIR} ${CMAKE_INSTALL_DATADIR}/platen ${CMAKE_INSTALL_DOCDIR}
  ${_man_dir} ${_bash_dir} ${_fish_dir} ${_zsh_dir} ${_unit_dir} ${_users_dir} ${_config_dir}
  ${CMAKE_INSTALL_INCLUDEDIR}/platen ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
install(CODE "set(PLATEN_INSTALL_DIRS \"${_install_dirs}\")
  set(PLATEN_FOLDER_LIST \"${PROJECT_BINARY_DIR}/installed_folders.txt\")
  include(\"${PROJECT_SOURCE_DIR}/cmake/new_folders.cmake\")" COMPONENT folders)

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME program)
install(TARGETS platen platen_fetch platen_tune RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY assets/platen-mini DESTINATION ${CMAKE_INSTALL_DATADIR}/platen
  PATTERN "*.packed*" EXCLUDE)
install(DIRECTORY configs packaging/kubernetes DESTINATION ${CMAKE_INSTALL_DATADIR}/platen)
install(PROGRAMS packaging/slurm/platen.sbatch DESTINATION ${CMAKE_INSTALL_DATADIR}/platen/slurm)
install(FILES README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR} FILES_MATCHING PATTERN "*.md"
  PATTERN notes EXCLUDE PATTERN examples EXCLUDE PATTERN images EXCLUDE PATTERN schema EXCLUDE)
install(FILES LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR} COMPONENT licence)
set(_pages ${PROJECT_BINARY_DIR}/pages)
install(FILES ${_pages}/platen.1.gz ${_pages}/platen-fetch.1.gz ${_pages}/platen-tune-mtp.1.gz
  ${_pages}/platen-tune.1.gz DESTINATION ${_man_dir})
install(FILES ${_pages}/platen.bash DESTINATION ${_bash_dir} RENAME platen)
install(FILES ${_pages}/platen.fish DESTINATION ${_fish_dir})
install(FILES ${_pages}/_platen DESTINATION ${_zsh_dir})
configure_file(packaging/systemd/platen@.service.in platen@.service @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/platen@.service packaging/systemd/platen@.timer
  DESTINATION ${_unit_dir})
install(FILES packaging/systemd/platen.conf DESTINATION ${_users_dir})

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME dev)
install(TARGETS platen_shared EXPORT platen
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT library NAMELINK_COMPONENT dev)
install(DIRECTORY include/platen DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT platen NAMESPACE platen:: FILE platenConfig.cmake DESTINATION ${_config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/platenConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/platenConfigVersion.cmake DESTINATION ${_config_dir})
file(RELATIVE_PATH _prefix_from_libdir "/${CMAKE_INSTALL_LIBDIR}" "/")
configure_file(cmake/platen.pc.in platen.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/platen.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)

add_custom_target(uninstall COMMAND ${CMAKE_COMMAND} -P ${PROJECT_SOURCE_DIR}/cmake/uninstall.cmake
  WORKING_DIRECTORY ${PROJECT_BINARY_DIR} VERBATIM)
include(cmake/package.cmake)
