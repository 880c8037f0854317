#!/bin/sh
# Build everything a training run needs in a work folder: Debian packages (unpacked, not installed)
# with texts and fonts, the corpora, the font list, a first set of rendered lines and the
# monitoring lines.  Debian only.  Safe to repeat: what is there stays.
#
# usage: prepare.sh WORKDIR [SHARDS]      SHARDS of 1,000 training lines, default 60
set -eu
here=$(cd "$(dirname "$0")" && pwd)
work=$1
shards=${2:-60}
mkdir -p "$work/debs" "$work/root"
cd "$work"
if [ ! -e debs/complete ]; then
    (cd debs && grep -v '^#' "$here/packages.txt" | cut -d' ' -f1 | xargs apt-get download)
    for deb in debs/*.deb; do dpkg-deb -x "$deb" root; done
    touch debs/complete
fi
[ -e corpus/train.json ] || python "$here/corpus.py" --root root --out corpus
[ -e fonts.json ] || python "$here/fonts.py" --font-dir root/usr/share --out fonts.json
common="--fonts fonts.json --font-dir root/usr/share"
# shellcheck disable=SC2086
python "$here/shards.py" --corpus corpus/train.json $common --pool pool --seed 11 --shards "$shards"
# shellcheck disable=SC2086
python "$here/shards.py" --corpus corpus/heldout.json $common --pool val --seed 900 --shards 1 \
    --shard-size 1500 --held-out-fonts
