#!/usr/bin/env bash
# Installs what is needed, builds everything (warnings are errors) and runs the tests. Safe to repeat.
#
#   ./tools/test.sh          the quick suite: under ten minutes from a clean clone on two cores
#   ./tools/test.sh --all    the long randomised suites too
set -euo pipefail
cd "$(dirname "$0")/.."

long=0
case "${1:-}" in
  "") ;;
  --all) long=1 ;;
  *) echo "usage: $0 [--all]" >&2; exit 2 ;;
esac

started=$SECONDS
echo "== 1/3 packages"
./tools/install_packages.sh
echo "== 2/3 build"
PLATEN_CMAKE_ARGS="-DPLATEN_WERROR=ON -DPLATEN_BUILD_TESTS=ON" ./tools/build.sh
echo "== 3/3 tests"
if ((long)); then
  # Randomised suites do many more rounds, and print the seed they start from.
  export PLATEN_LONG_TESTS=1 PLATEN_TEST_CONFIGS=200
fi
status=0
ctest --test-dir build --output-on-failure -j "$(nproc)" || status=$?
echo "== $((SECONDS - started)) s in all"
exit "$status"
