//! `tests/fuzz/run agent`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::agent(data));
