#!/usr/bin/env bash
# Configures build/ (Release) if that has not been done and builds the given targets; all without any.
# PLATEN_CMAKE_ARGS, if set, is added to the configuration, which is then done anew.
set -euo pipefail
cd "$(dirname "$0")/.."

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
read -ra extra <<< "${PLATEN_CMAKE_ARGS:-}"
if [[ ! -f build/build.ninja || ${#extra[@]} -gt 0 ]]; then
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "${launcher[@]}" "${extra[@]}" > build.log 2>&1 || {
    cat build.log >&2
    rm -f build.log
    exit 1
  }
  rm -f build.log
fi
cmake --build build --target "${@:-all}"
