# Everything comes from Debian 12 packages (tools/packages.txt); docs/DEPENDENCIES.md says why each.
find_package(Threads REQUIRED)
find_package(TBB 2021.8 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(Boost 1.74 REQUIRED COMPONENTS program_options)
find_package(JPEG REQUIRED)
find_package(PNG REQUIRED)
find_package(TIFF REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(PCRE2 REQUIRED IMPORTED_TARGET libpcre2-8)
pkg_check_modules(WEBP REQUIRED IMPORTED_TARGET libwebp)
pkg_check_modules(XXHASH REQUIRED IMPORTED_TARGET libxxhash)
find_package(spdlog REQUIRED)
find_package(fmt REQUIRED)

# OpenCV core and imgproc only. Debian's OpenCVConfig.cmake comes with libopencv-dev, which pulls in
# GDAL, VTK and Qt; the two small -dev packages have headers and libraries but no config file.
find_path(OPENCV_INCLUDE_DIR opencv2/core.hpp PATH_SUFFIXES opencv4 REQUIRED)
foreach(_module core imgproc)
  find_library(OPENCV_${_module}_LIBRARY opencv_${_module} REQUIRED)
  add_library(platen_opencv_${_module} INTERFACE IMPORTED)
  target_include_directories(platen_opencv_${_module} SYSTEM INTERFACE ${OPENCV_INCLUDE_DIR})
  target_link_libraries(platen_opencv_${_module} INTERFACE ${OPENCV_${_module}_LIBRARY})
endforeach()
