#!/usr/bin/env bash
# Builds the Debian packages platen, libplaten and libplaten-dev. The same sources give the same bytes.
#
#   ./tools/package.sh [OUTPUT_DIR]      default: out/packages
#
# SOURCE_DATE_EPOCH, if set, is the time of all files in them; without it that is the time of the last
# commit, else that of the entry in packaging/debian/changelog.in. PLATEN_PACKAGE_BUILD_DIR: where to
# build, build-package without it.
set -euo pipefail
cd "$(dirname "$0")/.."
mkdir -p "${1:-out/packages}"
out=$(realpath "${1:-out/packages}")
build=${PLATEN_PACKAGE_BUILD_DIR:-build-package}

if [[ -z "${SOURCE_DATE_EPOCH:-}" ]]; then
  changelog=$(sed -n 's/^ -- .*>  //p' packaging/debian/changelog.in)
  SOURCE_DATE_EPOCH=$(git log -1 --format=%ct 2> /dev/null || date -d "$changelog" +%s)
fi
export SOURCE_DATE_EPOCH
umask 022

launcher=()
if command -v ccache > /dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
cmake -S . -B "$build" -G Ninja -DCMAKE_BUILD_TYPE=Release -DCMAKE_INSTALL_PREFIX=/usr \
  -DPLATEN_BUILD_TESTS=OFF -DPLATEN_BUILD_BENCH=OFF "${launcher[@]}" > /dev/null
cmake --build "$build"
rm -rf "$build/packages" "$build/_CPack_Packages"
cpack --config "$build/CPackConfig.cmake" -B "$build/packages" > "$build/cpack.log" || {
  cat "$build/cpack.log" >&2
  exit 1
}
cp "$build"/packages/*.deb "$out"
ls -l "$out"
