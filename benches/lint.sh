#!/usr/bin/env bash
# What the linter costs beside other programs, in CPU seconds of whole process trees, medians of RUNS (default 5):
#
#   benches/lint.sh [RUNS]
#
# Installs squawk, sqruff, sqlfluff and ripgrep from PyPI into a temporary folder, makes three trees there (benches/lint.py),
# and runs everything by turns: on machines that others use too, only the ratios mean something.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
runs=${1:-5}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT

(cd "$root" && cargo build --release --quiet --bin claimsmith)
program=$(cd "$root" && cargo metadata --no-deps --format-version 1 | sed 's/.*"target_directory":"\([^"]*\)".*/\1/')/release/claimsmith
python3 -m venv "$work/tools"
"$work/tools/bin/pip" install --quiet --disable-pip-version-check squawk-cli==2.70.0 sqruff==0.44.0 sqlfluff==4.5.0 ripgrep==15.1.0

python3 "$root/benches/lint.py" "$program" "$work/tools/bin" "$runs"
