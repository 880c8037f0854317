#!/usr/bin/env bash
# Is platen right on my weights? Makes a golden of a snapshot with transformers, compares platen with it in f32 and
# int8, and says so in words (docs/ACCEPTANCE.md).
#
#   tools/acceptance/run.sh --model DIR [--pages FILE...] [--out DIR] [--prompt TEXT] [--max-new-tokens N]
#                           [--platen PROGRAM] [--python PROGRAM | --env DIR [--torch-index URL]]
#
# --out          the golden; one that is there is used again (default: a new folder below the temporary folder)
# --python       a Python that has torch and transformers; nothing is installed then
# --env          where torch and transformers are installed else (default: ~/.cache/platen/acceptance)
# --torch-index  where torch comes from (default: PyTorch's index of builds for the CPU)
#
# Exit status: 0 f32 and int8 both agree, 1 something differs, 2 something could not be run.
set -euo pipefail
here="$(cd "$(dirname "$0")" && pwd)"
requirements="$here/../goldens/requirements.txt"

model="" out="" python="" platen="$here/../../build/bin/platen"
env="${XDG_CACHE_HOME:-$HOME/.cache}/platen/acceptance"
torch_index="https://download.pytorch.org/whl/cpu"
golden_words=()
pages=()

fail() {
  echo "error: $*" >&2
  exit 2
}

while (($#)); do
  case "$1" in
    --pages)
      shift
      while (($#)) && [[ "$1" != --* ]]; do pages+=("$1"); shift; done
      continue
      ;;
    -h | --help) sed -n '2,/^set /{/^set /d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
  esac
  (($# > 1)) || fail "$1 needs a value; --help lists the options"
  case "$1" in
    --model) model="$2" ;;
    --out) out="$2" ;;
    --prompt | --max-new-tokens) golden_words+=("$1" "$2") ;;
    --platen) platen="$2" ;;
    --python) python="$2" ;;
    --env) env="$2" ;;
    --torch-index) torch_index="$2" ;;
    *) fail "$1: unknown option; --help lists them" ;;
  esac
  shift 2
done
[[ -n "$model" ]] || fail "--model DIR is missing: the folder of the snapshot"
[[ -f "$model/config.json" ]] || fail "$model has no config.json: it is no snapshot"
command -v "$platen" > /dev/null || fail "$platen is not there: build it (tools/build.sh platen) or name it with --platen"
[[ -n "$out" ]] || out="$(mktemp -d "${TMPDIR:-/tmp}/platen-acceptance-XXXXXX")"

# Torch from its own index alone: the builds on PyPI bring gigabytes of libraries for GPUs.
make_env() {
  echo "== torch and transformers into $env (once)" >&2
  python3 -m venv "$env" || fail "cannot make $env (Debian: apt-get install python3-venv)"
  local torch=() rest=() line
  while read -r line; do
    case "$line" in
      '' | \#*) ;;
      torch*) torch+=("$line") ;;
      *) rest+=("$line") ;;
    esac
  done < "$requirements"
  "$env/bin/pip" install --quiet --retries 1 --index-url "$torch_index" "${torch[@]}" >&2 &&
    "$env/bin/pip" install --quiet "${rest[@]}" >&2 ||
    fail "cannot install torch and transformers; --python PROGRAM uses an environment that has them, --torch-index URL another source"
  touch "$env/complete"
}

if [[ -z "$python" ]]; then
  [[ -f "$env/complete" ]] || make_env
  python="$env/bin/python"
fi

if [[ -f "$out/golden.json" ]]; then
  echo "== the golden in $out is used again" >&2
else
  echo "== the reference reads (golden in $out)" >&2
  "$python" "$here/make_golden.py" --model "$model" --out "$out" ${golden_words[@]+"${golden_words[@]}"} \
    ${pages[@]+--pages "${pages[@]}"} || fail "the reference could not read the images"
fi
echo "== platen reads" >&2
exec "$python" "$here/check.py" --model "$model" --golden "$out" --platen "$platen"
