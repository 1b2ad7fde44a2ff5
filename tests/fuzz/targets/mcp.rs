//! `tests/fuzz/run mcp`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::mcp(data));
