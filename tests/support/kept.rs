//! Replays the inputs of the fuzz targets: the regressions and the corpus. `tests/fuzz/README.md` explains how new ones are found.

use crate::project::{read, root};
use std::time::{Duration, Instant};

/// The maximum duration of one input, in a debug build on a busy machine. libFuzzer allows one second.
const LONGEST: Duration = Duration::from_secs(20);

/// The inputs below a folder of `tests/fuzz/` for this target, by name.
fn inputs(folder: &str, target: &str) -> Vec<(String, Vec<u8>)> {
    let folder = root().join("tests/fuzz").join(folder).join(target);
    let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
    let read = |entry: std::fs::DirEntry| {
        let path = entry.path();
        (path.display().to_string(), std::fs::read(&path).expect("it is a file"))
    };
    let mut found: Vec<_> = entries.map(read).collect();
    found.sort();
    found
}

/// Runs the function of a fuzz target on its kept inputs. Returns their number.
///
/// # Panics
/// No program runs the target, or an input takes too long.
pub fn run(target: &str, run: fn(&[u8])) -> usize {
    let program = format!("path = \"targets/{target}.rs\"");
    assert!(read("tests/fuzz/Cargo.toml").contains(&program), "{target} has no program");
    let all = ["regressions", "corpus"].map(|folder| inputs(folder, target)).concat();
    for (name, data) in &all {
        println!("{name}");
        let start = Instant::now();
        run(data);
        assert!(start.elapsed() < LONGEST, "{name} takes {:?}", start.elapsed());
    }
    all.len()
}
