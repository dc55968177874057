#!/usr/bin/env bash
# What claimsmith costs in builds, in CPU seconds (user + system), medians of RUNS (default 3):
#
#   benches/build.sh [RUNS]
#
# 1. Cold debug builds of an empty crate whose build.rs calls claimsmith, and of one whose build.rs calls prost-build.
# 2. `cargo check` of generated/rust, of its part for each one database, as build.rs makes it for a program, and of an empty
#    crate in its place, when all that they depend on is checked already.
#
# Works in a temporary folder; fetches prost-build and what it needs first, and measures without the network.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
runs=${1:-3}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
unset CARGO_TARGET_DIR RUSTC_WRAPPER
# As cargo builds whatever comes from a registry; of a crate in a path it would keep what the next build may use.
export CARGO_INCREMENTAL=0

crate() { # NAME DEPENDENCIES: an empty one
    mkdir -p "$work/$1/src"
    printf '[package]\nname = "%s"\nversion = "0.0.0"\nedition = "2024"\n\n%s\n\n[workspace]\n' "$1" "$2" >"$work/$1/Cargo.toml"
    cp "$root/Cargo.lock" "$work/$1/"
    : >"$work/$1/src/lib.rs"
}

cpu() { # FOLDER COMMAND...: CPU seconds
    local TIMEFORMAT='%U %S'
    (cd "$1" && shift && { time "$@" >"$work/log" 2>&1; } 2>&1 || { cat "$work/log" >&2; exit 1; }) |
        awk '{ printf "%.2f\n", $1 + $2 }'
}

median() { sort -n | awk '{ seconds[NR] = $1 } END { print seconds[int((NR + 1) / 2)] }'; }

cold_build() { # NAME
    rm -rf "$work/$1/target"
    cpu "$work/$1" cargo build --offline
}

check() { # NAME: of the crate alone
    touch "$work/$1/src/lib.rs"
    cpu "$work/$1" cargo check --offline
}

crate ours $'[build-dependencies]\nclaimsmith = { path = "'"$root"$'", default-features = false, features = ["generate"] }'
echo 'fn main() { let _ = claimsmith::build_script::configure(); }' >"$work/ours/build.rs"
crate prost $'[build-dependencies]\nprost-build = "0.14"'
echo 'fn main() { let _ = prost_build::Config::new(); }' >"$work/prost/build.rs"

# What the head of the code says it needs.
needs=$(sed -n 's|^//     ||p' "$root/generated/rust/mod.rs" | sed 's/^\(sqlx = { \)/\1default-features = false, /')
databases=(mysql mariadb postgres sqlite)
checked=(empty generated "${databases[@]}")
for name in "${checked[@]}"; do crate "$name" $'[dependencies]\n'"$needs"; done
printf '#[path = "%s"]\npub mod db;\n' "$root/generated/rust/mod.rs" >"$work/generated/src/lib.rs"

for name in "${databases[@]}"; do
    printf 'schemas = ["%s"]\nout = "src"\ndialects = ["%s"]\ntargets = ["rust"]\n' "$root/schemas" "$name" >"$work/$name/claimsmith.toml"
    (cd "$root" && cargo run --quiet -- generate --config "$work/$name/claimsmith.toml" >"$work/log" 2>&1)
    echo 'pub mod rust;' >"$work/$name/src/lib.rs"
done

for name in ours prost "${checked[@]}"; do
    (cd "$work/$name" && cargo fetch --quiet)
done

for name in ours prost; do
    echo "$name: $(cargo tree --offline --manifest-path "$work/$name/Cargo.toml" -e normal,build --prefix none | awk 'NR > 1 { print $1, $2 }' | sort -u | wc -l) crates"
done
for ((run = 0; run < runs; run++)); do
    for name in ours prost; do cold_build "$name" >>"$work/$name.cold"; done
done
echo "cold debug build: claimsmith $(median <"$work/ours.cold") s, prost-build $(median <"$work/prost.cold") s"

# One target folder: all of these have the same dependencies.
export CARGO_TARGET_DIR=$work/checked
for name in "${checked[@]}"; do cpu "$work/$name" cargo check --offline >/dev/null; done
for ((run = 0; run < runs; run++)); do
    for name in "${checked[@]}"; do check "$name" >>"$work/$name.check"; done
done
for name in "${checked[@]}"; do echo "cargo check of $name: $(median <"$work/$name.check") s"; done
