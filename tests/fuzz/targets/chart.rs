//! `tests/fuzz/run chart`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::chart(data));
