# `cmake --install`: the program, the bundled model, the example configurations, and the library with
# what find_package(platen) and pkg-config need.
include(CMakePackageConfigHelpers)
install(TARGETS platen platen_fetch RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY assets/platen-mini DESTINATION ${CMAKE_INSTALL_DATADIR}/platen
  PATTERN "*.packed*" EXCLUDE)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/platen)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})

set(_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/platen)
install(TARGETS platen_shared EXPORT platen LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/platen DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT platen NAMESPACE platen:: FILE platenConfig.cmake DESTINATION ${_config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/platenConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/platenConfigVersion.cmake DESTINATION ${_config_dir})
file(RELATIVE_PATH _prefix_from_libdir "/${CMAKE_INSTALL_LIBDIR}" "/")
configure_file(cmake/platen.pc.in platen.pc @ONLY)
install(FILES ${PROJECT_BINARY_DIR}/platen.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig)
