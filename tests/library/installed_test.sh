#!/usr/bin/env bash
# installed_test.sh BUILD SOURCE COMPILER: installs BUILD into a folder of its own, moves that
# folder, and uses what is in it as another project would.
set -euo pipefail
build=$1 source=$2 compiler=$3
work=$(mktemp -d)
# shellcheck source=tests/packaging/keep_manifest.sh
. "$source/tests/packaging/keep_manifest.sh"
keep_manifest "$build" "$work/kept"
trap 'give_manifest_back "$build" "$work/kept"; rm -rf "$work"' EXIT
page=$source/assets/samples/pages/phototest.tif

cmake --install "$build" --prefix "$work/first" > "$work/install.log"
mv "$work/first" "$work/platen"  # an installation can be moved
libdir=$(dirname "$(find "$work/platen" -name libplaten.so)")

echo "== find_package"
cmake -G Ninja -S "$source/docs/examples/read_documents" -B "$work/build" \
  -DCMAKE_CXX_COMPILER="$compiler" -DCMAKE_PREFIX_PATH="$work/platen" > "$work/cmake.log"
cmake --build "$work/build" >> "$work/cmake.log"
"$work/build/read_documents" "$page" > "$work/library.txt"
"$work/platen/bin/platen" ocr "$page" > "$work/program.txt"
grep -q "quick brown" "$work/library.txt"
cmp "$work/library.txt" "$work/program.txt"

echo "== a document that cannot be read"
if "$work/build/read_documents" "$work/cmake.log" 2> "$work/error.txt"; then exit 1; fi
grep -q "cmake.log" "$work/error.txt"

echo "== pkg-config"
export PKG_CONFIG_PATH=$libdir/pkgconfig
[ "$(pkg-config --modversion platen)" = "$("$work/platen/bin/platen" --version | cut -d' ' -f2)" ]
# shellcheck disable=SC2046
"$compiler" -std=c++20 "$source/docs/examples/read_documents/main.cc" -o "$work/example" \
  $(pkg-config --cflags --libs platen) -Wl,-rpath,"$libdir"
"$work/example" "$page" | cmp - "$work/program.txt"

echo "== exported symbols"
nm -DC --defined-only "$libdir/libplaten.so" | cut -d' ' -f3- > "$work/symbols.txt"
interface='platen::(Reader|Input|Document|Exception)::|platen::(Version|UseNoOpenCvThreads)\(|'
interface+='(typeinfo( name)?|vtable) for platen::Exception$'
if grep -vE "^($interface)" "$work/symbols.txt" || grep "::Impl" "$work/symbols.txt"; then
  echo "the library exports more than its interface" >&2
  exit 1
fi
grep -q "platen::Reader::Submit" "$work/symbols.txt"
