//! `chartc check --watch`: the same command again whenever a file changes.
#![allow(clippy::disallowed_methods, reason = "the one place that waits for files to change")]

use super::Exit;
use super::output::{begin_anew, complain};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// How often files are looked at. Looking costs a system call a file; notifications would cost a dependency for each platform, and fail
/// on network file systems.
const PAUSE: Duration = Duration::from_millis(300);

/// When a file was changed, and its length; `None` if there is no such file.
type Stamp = Option<(SystemTime, u64)>;

/// Runs a command, then again whenever a file changes that it read, or one that `list` gives for these. `once` adds the files that it
/// reads. It ends only with the process.
///
/// # Errors
/// None: what is wrong with a command or its settings is shown, and may be mended.
pub(super) fn forever(
    list: impl Fn(&[String]) -> Vec<String>,
    once: impl Fn(&mut Vec<String>) -> miette::Result<Exit>,
) -> miette::Result<Exit> {
    let mut read: Vec<String> = Vec::new();
    loop {
        // Stamps are taken before files are read: a change in between is noticed afterwards.
        let early = stamps(&list, &read);
        read.clear();
        if let Err(fault) = once(&mut read) {
            complain(format!("error: {fault}"));
        }
        let mut last = early;
        for name in &read {
            last.entry(name.clone()).or_insert_with(|| stamp(Path::new(name)));
        }
        let listed = stamps(&list, &read);
        last.retain(|name, _| listed.contains_key(name));
        complain("watching; Ctrl-C ends");
        while stamps(&list, &read) == last {
            std::thread::sleep(PAUSE);
        }
        begin_anew()?;
    }
}

fn stamps(list: &impl Fn(&[String]) -> Vec<String>, read: &[String]) -> BTreeMap<String, Stamp> {
    let names = list(read).into_iter().chain(read.iter().cloned());
    names.map(|name| (name.clone(), stamp(Path::new(&name)))).collect()
}

fn stamp(path: &Path) -> Stamp {
    let known = path.metadata().ok()?;
    Some((known.modified().ok()?, known.len()))
}
