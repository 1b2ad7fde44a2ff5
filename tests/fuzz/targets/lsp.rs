//! `tests/fuzz/run lsp`
#![no_main]

libfuzzer_sys::fuzz_target!(|data: &[u8]| chartc_fuzz::lsp(data));
