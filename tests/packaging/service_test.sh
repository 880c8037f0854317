#!/usr/bin/env bash
# service_test.sh BUILD SOURCE: systemd accepts the service and its timer, and finds the service
# confined. Exit code 77 where systemd-analyze is not installed: skipped.
set -euo pipefail
build=$1 source=$2
if ! command -v systemd-analyze > /dev/null; then
  echo "skipped: systemd-analyze is not installed"
  exit 77
fi
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

# The program need not be installed, nor the user be there, for the check.
sed -e "s#^ExecStart=[^ ]*/platen #ExecStart=$build/bin/platen #" "$build/platen@.service" \
  > "$work/platen@night.service"
grep -q "^ExecStart=$build/bin/platen ocr --config /etc/platen/%i.json" "$work/platen@night.service"
cp "$source/packaging/systemd/platen@.timer" "$work/platen@night.timer"

echo "== systemd-analyze verify"
for unit in service timer; do
  systemd-analyze verify --man=no "$work/platen@night.$unit" > "$work/found" 2>&1 || {
    cat "$work/found" >&2
    exit 1
  }
  if grep "platen@" "$work/found" >&2; then exit 1; fi
done

echo "== systemd-analyze security"
# In tenths, 0 to 100: the more, the more a service may do. A service without any of the settings has 96.
systemd-analyze security --offline=yes --threshold=10 --no-pager "$work/platen@night.service" \
  > "$work/exposure" || {
  cat "$work/exposure" >&2
  exit 1
}
tail -n 1 "$work/exposure"
