//! The store: what is kept, found, refused, and shared by processes.

#![allow(
    clippy::disallowed_methods,
    reason = "files are what is tested, and how long one is waited for"
)]

mod files;
mod search;

use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, Ordering};

/// A path of a test's own; what lies there is gone when the test ends.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        let nth = NEXT.fetch_add(1, Ordering::Relaxed);
        let name = format!("chartc-memory-{}-{nth}", std::process::id());
        let folder = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&folder).expect("a folder can be made");
        Self(folder)
    }

    fn file(&self) -> PathBuf {
        self.0.join("memory.db")
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
