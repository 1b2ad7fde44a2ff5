//! Runs `chartc check --watch` again whenever a file changes.
#![allow(clippy::disallowed_methods, reason = "the one place that waits for files to change")]

use super::Exit;
use super::output::{begin_anew, complain};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// The interval at which files are looked at. Looking costs a system call for each file. Notifications would cost a dependency for each
/// platform, and fail on network file systems.
const PAUSE: Duration = Duration::from_millis(300);

/// The time of the last change of a file, and its length; `None` if there is no such file.
type Stamp = Option<(SystemTime, u64)>;

/// Runs a command, then again whenever a file that it read changes, or one that `list` returns for these. `once` runs the command and adds
/// the files that it reads. Returns only with the process.
///
/// # Errors
/// None. An error of the command or its settings is printed, and the next change may repair it.
pub(super) fn forever(
    list: impl Fn(&[String]) -> Vec<String>,
    once: impl Fn(&mut Vec<String>) -> miette::Result<Exit>,
) -> miette::Result<Exit> {
    let mut read: Vec<String> = Vec::new();
    loop {
        // Stamps are taken before files are read, so that a change in between is noticed.
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
        // A file may be listed no more, such as one that is now excluded: it would differ from the list forever.
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
