#!/usr/bin/env bash
# Configures build/ (Release) if that has not been done and builds the given targets; all without any.
set -euo pipefail
cd "$(dirname "$0")/.."

launcher=()
if command -v ccache >/dev/null; then
  launcher=(-DCMAKE_CXX_COMPILER_LAUNCHER=ccache)
fi
if [[ ! -f build/build.ninja ]]; then
  cmake -S . -B build -G Ninja -DCMAKE_BUILD_TYPE=Release "${launcher[@]}" > build.log 2>&1 || {
    cat build.log >&2
    rm -f build.log
    exit 1
  }
  rm -f build.log
fi
cmake --build build --target "${@:-all}"
