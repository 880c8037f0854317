#!/usr/bin/env bash
# container_test.sh SOURCE: packaging/Containerfile, built with buildah on a base made by mmdebstrap from
# this machine's package sources, so that no registry is needed; then platen in the container, as its own
# user, reads a page. Takes long: skipped (77) without PLATEN_LONG_TESTS, without buildah or mmdebstrap, and
# where the user may not do it.
set -euo pipefail
source=$1
if [[ -z ${PLATEN_LONG_TESTS:-} ]]; then
  echo "skipped: PLATEN_LONG_TESTS is not set"
  exit 77
fi
for program in buildah mmdebstrap; do
  if ! command -v $program > /dev/null; then
    echo "skipped: $program is not installed"
    exit 77
  fi
done
if ((EUID != 0)); then
  echo "skipped: needs root"
  exit 77
fi

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
b() { buildah --root "$work/store" --runroot "$work/run" --storage-driver vfs "$@"; }

echo "== base"
base=localhost/debian:12-slim
# shellcheck disable=SC2016
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Created-By: Packages' 'Codename: bookworm' | head -n 1)
if [[ -z $mirror ]]; then
  echo "skipped: no package source of Debian 12"
  exit 77
fi
mmdebstrap --quiet --variant=minbase --include=ca-certificates bookworm "$work/base.tar" "$mirror"
container=$(b from scratch)
b add --quiet "$container" "$work/base.tar" / > /dev/null
b commit --quiet "$container" $base > /dev/null
b rm "$container" > /dev/null

echo "== build"
b build --isolation chroot --network host --build-arg BASE=$base -f "$source/packaging/Containerfile" \
  -t localhost/platen "$source" > "$work/log" 2>&1 || {
  tail -n 50 "$work/log"
  exit 1
}

echo "== a page, read by the container's user into a folder that is its own"
mkdir -p "$work/in" "$work/out"
cp "$source/assets/samples/pages/phototest.tif" "$work/in"
chmod 755 "$work" "$work/in"
chown 10001:10001 "$work/out"
container=$(b from localhost/platen)
[[ $(b inspect --format '{{.OCIv1.Config.User}} {{.OCIv1.Config.Entrypoint}}' "$container") == "platen [platen]" ]]
b run --isolation chroot -v "$work/in:/in:ro" -v "$work/out:/out" "$container" -- \
  platen ocr /in -o /out --format txt,pdf > "$work/log" 2>&1 || {
  cat "$work/log"
  exit 1
}
find "$work/out" -name 'phototest.tif.txt' -user 10001 -exec cat {} + | grep -q "quick brown"
find "$work/out" -name 'phototest.tif.pdf' | grep -q .
