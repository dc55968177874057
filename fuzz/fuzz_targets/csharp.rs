//! SQL in C#, and all rules.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| claimsmith_fuzz::file(text, "cs"));
