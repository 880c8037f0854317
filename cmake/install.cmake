# `cmake --install`: the program, the bundled model and the example configurations.
include(GNUInstallDirs)
install(TARGETS platen RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(DIRECTORY assets/platen-mini DESTINATION ${CMAKE_INSTALL_DATADIR}/platen
  PATTERN "*.packed*" EXCLUDE)
install(DIRECTORY configs DESTINATION ${CMAKE_INSTALL_DATADIR}/platen)
install(FILES README.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
