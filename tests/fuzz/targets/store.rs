//! `tests/fuzz/run store`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::store(data));
