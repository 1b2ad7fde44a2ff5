//! Folders of recorded calls: `chartc run --record DIR` writes one, `--llm replay:DIR` answers from it.

use super::{files, save};
use chartc_core::visible;
use chartc_runtime::clock::Clock;
use chartc_runtime::oracle::cassette::Entry;
use chartc_runtime::oracle::{CassetteSink, Replaying};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A folder that calls are recorded into.
struct Folder(PathBuf);

impl CassetteSink for Folder {
    fn put(&self, name: &str, text: &str) -> Result<(), String> {
        save::write(&self.0.join(name), &visible::json(text)).map_err(|fault| fault.to_string())
    }
}

/// Prepares a folder for recording: creates it if necessary, and deletes the calls of an earlier run.
pub(super) fn shelf(folder: &Path) -> miette::Result<Box<dyn CassetteSink>> {
    save::make_folder(folder)?;
    for name in names(folder)? {
        save::remove(&folder.join(name))?;
    }
    Ok(Box::new(Folder(folder.to_owned())))
}

/// The names of the files with recorded calls in a folder, sorted. Other files are ignored.
fn names(folder: &Path) -> miette::Result<Vec<String>> {
    let shown = folder.display();
    let Some(mut names) = files::list(folder) else {
        return Err(miette::miette!(
            help = "`chartc run … --record DIR` creates it",
            "there is no folder {shown}"
        ));
    };
    names.retain(|name| Entry::is_file(name));
    names.sort();
    Ok(names)
}

/// The oracle that answers from the calls recorded in a folder.
pub(super) fn replaying(folder: &Path, clock: Arc<dyn Clock>) -> miette::Result<Replaying> {
    let shown = folder.display();
    let mut entries = Vec::new();
    for name in names(folder)? {
        let path = folder.join(&name);
        let text = files::read_found(&path)?;
        let entry =
            Entry::read(&text).map_err(|why| miette::miette!("{}: {why}", path.display()))?;
        // The name contains a hash of the question. If it differs, the run would never find this answer.
        if entry.file() != name {
            return Err(miette::miette!(
                help = "the file's name depends on the question, so only answers may be edited: record the calls again",
                "{}: the question differs from the recorded one",
                path.display()
            ));
        }
        entries.push(entry);
    }
    if entries.is_empty() {
        return Err(miette::miette!(
            help = "`chartc run … --record DIR` records some",
            "{shown} has no recorded calls"
        ));
    }
    Ok(Replaying::new(&shown.to_string(), entries, clock))
}
