#!/usr/bin/env bash
# uninstall_test.sh BUILD SOURCE: what cmake --install puts somewhere, the target uninstall takes away
# again, and nothing else.
set -euo pipefail
build=$1 source=$2
# shellcheck source=tests/packaging/keep_manifest.sh
. "$source/tests/packaging/keep_manifest.sh"
work=$(mktemp -d)
keep_manifest "$build" "$work/kept"
trap 'give_manifest_back "$build" "$work/kept"; rm -rf "$work"' EXIT

# Others have a file in a folder that we use, and an empty one.
prefix=$work/prefix
mkdir -p "$prefix/share/man/man1" "$prefix/bin"
echo other > "$prefix/bin/other"
find "$prefix" | sort > "$work/before"

cmake --install "$build" --prefix "$prefix" > "$work/log"
cmake --install "$build" --prefix "$prefix" >> "$work/log"  # twice is once
[[ -x $prefix/bin/platen && -f $prefix/share/man/man1/platen.1.gz ]]
echo mine > "$prefix/share/platen/mine"
(cd "$build" && cmake -P "$source/cmake/uninstall.cmake")

echo "== a file that was not installed stays"
[[ $(cat "$prefix/share/platen/mine") == mine ]]
rm -r "$prefix/share/platen"
echo "== everything else is as before"
find "$prefix" | sort | diff "$work/before" -

echo "== where nothing is installed, nothing is removed"
if (cd "$build" && cmake -P "$source/cmake/uninstall.cmake") 2> "$work/error"; then exit 1; fi
grep -q "install_manifest.txt is not here" "$work/error"
