#!/usr/bin/env bash
# What CI runs: is the committed code what the definitions say, and does it work? With `check`, the first half only.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Elsewhere this is `claimsmith`, of the version that the code was generated with.
claimsmith=(cargo run --quiet --manifest-path ../../Cargo.toml --)
[[ -z ${CLAIMSMITH:-} ]] || claimsmith=("$CLAIMSMITH")

"${claimsmith[@]}" generate --check
[[ ${1:-} != check ]] || exit 0
cargo fmt --check
cargo clippy --all-targets -- -D warnings
cargo test
