//! `tests/fuzz/run lower`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::lower(data));
