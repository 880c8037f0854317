#!/usr/bin/env bash
# From nothing to text: installs what is needed, builds platen, reads assets/samples with the bundled
# model and shows what came out. Safe to repeat; a second run has nothing left to do but show.
#
#   ./tools/demo.sh [OUTPUT_DIR]      default: out/demo
set -euo pipefail
cd "$(dirname "$0")/.."
out="${1:-out/demo}"
lines_shown=6

echo "== 1/3 packages"
./tools/install_packages.sh --build
echo "== 2/3 build"
# Tests need packages of their own; a build folder that has them keeps them.
if [[ ! -f build/build.ninja ]]; then export PLATEN_CMAKE_ARGS=-DPLATEN_BUILD_TESTS=OFF; fi
./tools/build.sh platen
echo "== 3/3 platen ocr assets/samples -o $out"
status=0
build/bin/platen ocr assets/samples -o "$out" || status=$?

# The first lines of every page: pages are separated by form feeds.
find "$out" -name '*.txt' | sort | while read -r file; do
  awk -v name="${file#"$out"/}" -v shown="$lines_shown" '
    BEGIN { RS = "\f" }
    {
      printf "\n--- %s, page %d\n", name, NR
      count = split($0, line, "\n")
      printed = 0
      for (i = 1; i <= count && printed < shown; ++i) {
        if (line[i] != "") { print "    " line[i]; ++printed }
      }
    }' "$file"
done

echo
echo "The text of each page: $out/samples/**/*.txt (also .md and .json)"
echo "What was done and what it cost: $out/run.json"
exit "$status"
