//! `tests/fuzz/run scxml`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::scxml(data));
