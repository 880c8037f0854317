#!/usr/bin/env bash
# package_test.sh SOURCE: the Debian packages. They are built twice, in two folders, with the same bytes;
# need what tools/packages.txt names for run time and nothing else; hold what they should; and lintian,
# where it is installed, finds no error. Takes minutes: skipped (77) without PLATEN_LONG_TESTS.
set -euo pipefail
source=$1
if [[ -z ${PLATEN_LONG_TESTS:-} ]]; then
  echo "skipped: PLATEN_LONG_TESTS is not set"
  exit 77
fi
if ! command -v dpkg-shlibdeps > /dev/null || ! command -v file > /dev/null; then
  echo "skipped: needs what tools/install_packages.sh --package installs"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
for n in 1 2; do
  PLATEN_PACKAGE_BUILD_DIR=$work/build$n "$source/tools/package.sh" "$work/$n" > "$work/log" 2>&1 || {
    tail -n 50 "$work/log"
    exit 1
  }
done

echo "== the same bytes"
diff -r "$work/1" "$work/2"
deb=$(ls "$work"/1/platen_*.deb)

echo "== what it depends on is what tools/packages.txt names"
sed -n '/^\[run-time\]/,/^\[test\]/p' "$source/tools/packages.txt" | grep -v '^\[\|^#\|^$' | sort > "$work/named"
dpkg-deb -f "$deb" Depends | tr ',' '\n' | sed 's/^ *//; s/ .*//; s/-fmt9$//' | grep -v '^libc6$\|^libgcc-s1$' |
  sort | diff "$work/named" -

echo "== what it holds"
dpkg-deb -x "$deb" "$work/root"
cd "$work/root"
ls usr/bin/platen usr/bin/platen-fetch usr/share/platen/platen-mini/model.safetensors \
  usr/share/platen/configs/service.json usr/share/man/man1/platen.1.gz usr/share/man/man1/platen-fetch.1.gz \
  usr/share/man/man1/platen-tune-mtp.1.gz usr/share/man/man1/platen-tune.1.gz \
  usr/share/bash-completion/completions/platen usr/share/zsh/vendor-completions/_platen \
  usr/share/fish/vendor_completions.d/platen.fish usr/lib/systemd/system/platen@.service \
  usr/share/doc/platen/copyright usr/share/doc/platen/changelog.Debian.gz > /dev/null
grep -q "^ExecStart=/usr/bin/platen " usr/lib/systemd/system/platen@.service
if find . \( -type f -perm /022 -o -type d ! -perm 755 -o -perm /6000 \) | grep .; then exit 1; fi
if nm usr/bin/platen 2> /dev/null | grep -q .; then exit 1; fi  # stripped
usr/bin/platen ocr "$source/assets/samples/pages/phototest.tif" | grep -q "quick brown"

if command -v lintian > /dev/null; then
  echo "== lintian"
  lintian --fail-on error "$work"/1/*.deb | tee "$work/complaints"
  if grep no-manual-page "$work/complaints"; then exit 1; fi
fi
