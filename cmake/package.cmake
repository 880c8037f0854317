# Debian packages by CPack: platen, the library and what programs are built with. tools/package.sh
# builds them; the same sources give the same bytes.
set(PLATEN_PACKAGE_MAINTAINER "platen maintainers <maintainers@platen.invalid>" CACHE STRING
  "Maintainer of the Debian packages: NAME <ADDRESS>")
set(_release 1)
set(_library libplaten${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# What only packages hold: copyright and changelogs, for each of them.
file(MAKE_DIRECTORY ${PROJECT_BINARY_DIR}/debian)
configure_file(packaging/debian/changelog.in debian/changelog @ONLY)
foreach(_pair "changelog.gz;${PROJECT_SOURCE_DIR}/CHANGELOG.md"
    "changelog.Debian.gz;${PROJECT_BINARY_DIR}/debian/changelog")
  list(GET _pair 0 _name)
  list(GET _pair 1 _from)
  add_custom_command(OUTPUT ${PROJECT_BINARY_DIR}/debian/${_name} DEPENDS ${_from} VERBATIM
    COMMAND sh -c "gzip -9n < ${_from} > ${PROJECT_BINARY_DIR}/debian/${_name}")
  list(APPEND _changelogs ${PROJECT_BINARY_DIR}/debian/${_name})
endforeach()
add_custom_target(debian_changelogs ALL DEPENDS ${_changelogs})
foreach(_pair "program;platen" "library;${_library}" "dev;libplaten-dev")
  list(GET _pair 0 _component)
  list(GET _pair 1 _package)
  install(FILES packaging/debian/copyright ${_changelogs} COMPONENT ${_component} EXCLUDE_FROM_ALL
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${_package})
endforeach()

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_ALL program library dev)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_CONTACT ${PLATEN_PACKAGE_MAINTAINER})
set(CPACK_DEBIAN_PACKAGE_RELEASE ${_release})
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_DEBIAN_PACKAGE_SOURCE platen)
set(_version ${PROJECT_VERSION}-${_release})

set(CPACK_DEBIAN_PROGRAM_PACKAGE_NAME platen)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_SECTION graphics)
set(CPACK_DEBIAN_PROGRAM_PACKAGE_DEPENDS "poppler-utils, qpdf, ca-certificates")
set(CPACK_DEBIAN_PROGRAM_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/postinst
  ${PROJECT_SOURCE_DIR}/packaging/debian/postrm)
set(CPACK_COMPONENT_PROGRAM_DESCRIPTION "turns scans into text on CPU cores
platen reads folders of scanned pages and writes their text, with a
vision-language model on ordinary CPU cores: plain text, Markdown, JSON,
hOCR, ALTO, PAGE, TSV, HTML and searchable PDF. It never loses a page,
goes on where it was after an interruption, and writes the same bytes
every time.

A small model for printed text in Latin script is included; others are
downloaded with platen fetch.")

set(CPACK_DEBIAN_LIBRARY_PACKAGE_NAME ${_library})
set(CPACK_DEBIAN_LIBRARY_PACKAGE_SECTION libs)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_DEPENDS "poppler-utils, qpdf")
set(CPACK_DEBIAN_LIBRARY_PACKAGE_RECOMMENDS platen)
set(CPACK_DEBIAN_LIBRARY_PACKAGE_CONTROL_EXTRA ${PROJECT_SOURCE_DIR}/packaging/debian/triggers)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_COMPONENT_LIBRARY_DESCRIPTION "documents to text on CPU cores, library
The library of platen: reads scanned pages and PDF files from files, bytes
or pixels, on any number of threads. The model that comes with platen is
in the package platen.")

set(CPACK_DEBIAN_DEV_PACKAGE_NAME libplaten-dev)
set(CPACK_DEBIAN_DEV_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEV_PACKAGE_DEPENDS "${_library} (= ${_version})")
set(CPACK_COMPONENT_DEV_DESCRIPTION "documents to text on CPU cores, development files
Headers, the CMake package and the pkg-config file of the library of
platen.")
include(CPack)
