//! Finds the charts in a folder.

use crate::disk;
use chartc_text::front::is_named_as_chart;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

/// A predicate on a path, and whether it is a folder: whether a search of the folder around it leaves it out.
pub(super) type Skips = Arc<dyn Fn(&Path, bool) -> miette::Result<bool> + Send + Sync>;

/// Finds the charts below a folder, sorted. Links to folders are not followed, so a cycle of links does no harm.
///
/// # Errors
/// An ignore file cannot be read, or an error of `skips`.
pub(super) fn below(folder: &Path, skips: &Skips) -> miette::Result<Vec<String>> {
    Ok(below_within(folder, skips, usize::MAX)?.unwrap_or_default())
}

/// As [`below`], but returns `None` if the folder has more than `most` files and folders, so that nobody waits for a search of a whole
/// disk.
///
/// # Errors
/// As [`below`].
pub(super) fn below_within(
    folder: &Path,
    skips: &Skips,
    most: usize,
) -> miette::Result<Option<Vec<String>>> {
    let real = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
    // The walk reads the ignore files of all ancestors, too.
    real.ancestors().try_for_each(ensure_readable_ignore_files)?;
    let refused = Arc::new(Mutex::new(None));
    let (first, skips_folder) = (Arc::clone(&refused), Arc::clone(skips));
    let is_kept = move |path: &Path| {
        if skips_folder(path, true)? {
            Ok(false)
        } else {
            ensure_readable_ignore_files(path).map(|()| true)
        }
    };
    let walk = ignore::WalkBuilder::new(folder)
        // A `.gitignore` counts also outside of a repository.
        .require_git(false)
        // The exclude file is named by the repository's configuration, and could be any file or device.
        .git_exclude(false)
        .follow_links(false)
        // The filter is not called for `folder` itself.
        .filter_entry(move |entry| {
            let is_folder = entry.file_type().is_some_and(|kind| kind.is_dir());
            // The callback cannot return an error: keep the first one for later.
            !is_folder
                || is_kept(entry.path()).unwrap_or_else(|fault| {
                    let mut first = first.lock().unwrap_or_else(PoisonError::into_inner);
                    first.get_or_insert(fault);
                    false
                })
        })
        .build();
    let mut names = Vec::new();
    for (nth, entry) in walk.flatten().enumerate() {
        if nth >= most {
            return Ok(None);
        }
        let is_chart = entry.depth() > 0
            && is_named_as_chart(&entry.file_name().to_string_lossy())
            && entry.path().is_file();
        if is_chart && !skips(entry.path(), false)? {
            names.push(disk::shown(&disk::tidy(entry.path())));
        }
    }
    names.sort();
    let refused = refused.lock().unwrap_or_else(PoisonError::into_inner).take();
    refused.map_or(Ok(Some(names)), Err)
}

/// A predicate that leaves nothing out.
pub(super) fn none() -> Skips {
    Arc::new(|_, _| Ok(false))
}

/// Refuses a folder with an ignore file that is not a small regular file: a pipe would block, and a device may be endless.
fn ensure_readable_ignore_files(folder: &Path) -> miette::Result<()> {
    for name in [".gitignore", ".ignore"] {
        let path = folder.join(name);
        let fits = |known: std::fs::Metadata| known.is_file() && known.len() <= disk::LARGEST;
        if path.metadata().is_ok_and(|known| !fits(known)) {
            return Err(miette::miette!(
                help = "remove it, or name the files to read",
                "cannot read {}: it is not a regular file, or it is too large",
                disk::shown(&path)
            ));
        }
    }
    Ok(())
}
