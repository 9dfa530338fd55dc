#!/bin/sh
# Everything that depends on the size of a vault, in one run: sh benchmarks/sizes.sh [PAGES…] > report.md
# Takes hours with 50,000 pages. PYTHON is the interpreter that has memidx; ROUNDS, JUDGED (more folders for recall.py).
set -eu
unset PYTHONDONTWRITEBYTECODE
here=$(dirname "$0")
python=${PYTHON:-python3}
place=$(mktemp -d)
trap 'rm -rf "$place"' EXIT
[ $# -gt 0 ] || set -- 1000 10000 50000
for pages; do
    "$python" "$here/vaults.py" "$place/made-$pages" "$pages"
done
"$python" "$here/alternatives.py" "$place"/made-* --rounds "${ROUNDS:-3}" ${TOOLS:+--tools "$TOOLS"}
echo
# shellcheck disable=SC2086 # several folders
"$python" "$here/recall.py" "$place"/made-* ${JUDGED:-}
