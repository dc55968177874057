//! The definition loader and all its checks.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| claimsmith_fuzz::definitions(text));
