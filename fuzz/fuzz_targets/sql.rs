//! The reader of SQL, for each database, and all rules.
#![no_main]

libfuzzer_sys::fuzz_target!(|text: &str| claimsmith_fuzz::sql(text));
