//! `tests/fuzz/run ladder`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::ladder(data));
