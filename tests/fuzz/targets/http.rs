//! `tests/fuzz/run http`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::http(data));
