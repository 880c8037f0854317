#!/usr/bin/env bash
# Installs the Debian packages listed in tools/packages.txt that are not there yet. Needs root or
# sudo only if something is missing.
#
#   ./tools/install_packages.sh               to build, test and run platen
#   ./tools/install_packages.sh --build       to build and run it
#   ./tools/install_packages.sh --run-time    to run it: the libraries, and the programs it starts
#   ./tools/install_packages.sh --package     to build its Debian packages
set -euo pipefail
cd "$(dirname "$0")/.."

case "${1:-}" in
  "") sections="build run-time test" ;;
  --build) sections="build run-time" ;;
  --run-time) sections="run-time" ;;
  --package) sections="build run-time package" ;;
  *) echo "usage: $0 [--build | --run-time | --package]" >&2; exit 2 ;;
esac

missing=()
section=
while read -r package; do
  case "$package" in
    "" | \#*) continue ;;
    \[*\]) section=${package:1:-1}; continue ;;
  esac
  [[ " $sections " == *" $section "* ]] || continue
  if ! dpkg-query -W -f='${Status}' "$package" 2>/dev/null | grep -q "ok installed"; then
    missing+=("$package")
  fi
done < tools/packages.txt

if ((${#missing[@]} == 0)); then
  echo "packages: all installed"
  exit 0
fi

echo "packages: installing ${missing[*]}"
run=()
if ((EUID != 0)); then
  if ! command -v sudo >/dev/null; then
    echo "error: installing packages needs root, and there is no sudo; as root, run: $0" >&2
    exit 3
  fi
  run=(sudo)
fi
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get -qq update
"${run[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get -qq install -y --no-install-recommends "${missing[@]}" > /tmp/platen-apt.$$.log 2>&1 || {
  cat /tmp/platen-apt.$$.log >&2
  exit 3
}
rm -f /tmp/platen-apt.$$.log
