//! A folder of ordinary files: what people wait for.

use crate::scale::{median, ms, timed};
use chartc::load::Memory;
use std::hint::black_box;

/// Files that are checked at once.
const FILES: usize = 200;

/// Checks these files as often as it takes to be 200, all in one go, and prints how long that takes.
pub(crate) fn run(paths: &[String]) {
    let mut loader = Memory::default();
    let mut bytes = 0;
    for (i, path) in paths.iter().cycle().take(FILES).enumerate() {
        let Ok(text) = std::fs::read_to_string(path) else {
            return eprintln!("{path} cannot be read");
        };
        bytes += text.len();
        loader.0.insert(format!("{i}/{path}"), text);
    }
    let names: Vec<String> = loader.0.keys().cloned().collect();
    let times = (0..20).map(|_| timed(|| drop(black_box(chartc::check(&names, &loader)))).0);
    println!("{} files, {bytes} bytes: {:.1} ms", names.len(), ms(median(times.collect())));
}
