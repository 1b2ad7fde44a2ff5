//! Baselines: lists of findings that a team has accepted for now. A check with a baseline reports only findings that it does not list.
//!
//! ```json
//! {"version":1,"findings":[
//! {"file":"a.chart","code":"C0302","fingerprint":"…","message":"…"}
//! ]}
//! ```

use super::output::complain;
use super::save::write;
use crate::disk::{named, shown, tidy};
use crate::report::fingerprint::fingerprints;
use chartc_core::visible;
use chartc_text::diagnostic::Diagnostic;
use chartc_text::source::Sources;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

/// The version of the file's format.
const VERSION: u32 = 1;

/// The last code that a baseline cannot contain: a file that cannot be read or parsed hides its other findings.
const LAST_FIRM: &str = "C0005";

/// The maximum number of missing findings that are listed.
const MOST_NAMED: usize = 10;

#[derive(Deserialize)]
struct Document {
    version: u32,
    findings: Vec<Entry>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Entry {
    file: String,
    code: String,
    fingerprint: String,
    message: String,
}

/// The entry of each finding, in order; `None` for a finding that no baseline can contain.
fn entries(path: &Path, diagnostics: &[Diagnostic], sources: &Sources) -> Vec<Option<Entry>> {
    let folder = folder(path);
    let own = |name: &str| relative(&folder, name);
    let prints = fingerprints(diagnostics, sources, own);
    let entry = |(found, fingerprint): (&Diagnostic, String)| {
        (found.rule.code > LAST_FIRM).then(|| Entry {
            file: own(&sources.get(found.span.file).name),
            code: found.rule.code.to_owned(),
            fingerprint,
            message: found.message.clone(),
        })
    };
    diagnostics.iter().zip(prints).map(entry).collect()
}

/// Writes the findings to the file and removes them from `diagnostics`, except those that no baseline can contain.
///
/// # Errors
/// The file could not be written.
pub(super) fn create(
    path: &Path,
    diagnostics: &mut Vec<Diagnostic>,
    sources: &Sources,
) -> miette::Result<()> {
    let entries = entries(path, diagnostics, sources);
    let mut lines: Vec<&Entry> = entries.iter().flatten().collect();
    // A fixed order keeps the differences small when the file is under version control.
    lines.sort_by(|a, b| {
        (&a.file, &a.code, &a.fingerprint).cmp(&(&b.file, &b.code, &b.fingerprint))
    });
    let line = |entry: &&Entry| serde_json::to_string(entry).expect("strings always serialize");
    let body: Vec<String> = lines.iter().map(line).collect();
    let text = format!("{{\"version\":{VERSION},\"findings\":[\n{}\n]}}\n", body.join(",\n"));
    write(path, &visible::json(&text))?;
    complain(format!(
        "{} finding{} in {}",
        body.len(),
        if body.len() == 1 { "" } else { "s" },
        path.display()
    ));
    let mut covered = entries.iter().map(Option::is_some);
    diagnostics.retain(|_| !covered.next().unwrap_or(false));
    Ok(())
}

/// Removes the findings that the file lists, and reports the entries that no longer occur.
///
/// # Errors
/// The file cannot be read, or is not a baseline.
pub(super) fn cover(
    path: &Path,
    diagnostics: &mut Vec<Diagnostic>,
    sources: &Sources,
) -> miette::Result<()> {
    let listed = read(path)?;
    let mut left: BTreeMap<(String, String, String), Entry> = listed
        .into_iter()
        .map(|e| ((e.file.clone(), e.code.clone(), e.fingerprint.clone()), e))
        .collect();
    let entries = entries(path, diagnostics, sources);
    let mut covered = entries.into_iter().map(|entry| {
        entry.is_some_and(|e| left.remove(&(e.file, e.code, e.fingerprint)).is_some())
    });
    diagnostics.retain(|_| !covered.next().unwrap_or(false));
    drop(covered);
    let folder = folder(path);
    let checked: Vec<String> =
        sources.iter().map(|(_, source)| relative(&folder, &source.name)).collect();
    // This check says nothing about files that it did not read, unless they have been deleted.
    left.retain(|(file, ..), _| checked.contains(file) || !folder.join(file).exists());
    if left.is_empty() {
        return Ok(());
    }
    for entry in left.values().take(MOST_NAMED) {
        complain(format!("gone: {}: {} {}", entry.file, entry.code, entry.message));
    }
    let (count, path) = (left.len(), path.display());
    complain(format!(
        "{count} of the findings in {path} {} gone; update it with `--write-baseline {path}`",
        if count == 1 { "is" } else { "are" }
    ));
    Ok(())
}

fn read(path: &Path) -> miette::Result<Vec<Entry>> {
    let help = "write it with `chartc check --write-baseline FILE`";
    let text = named(path).map_err(|why| {
        miette::miette!(help = help, "cannot read the baseline {}: {why}", path.display())
    })?;
    let document: Document = serde_json::from_str(&text)
        .map_err(|why| miette::miette!(help = help, "{} is no baseline: {why}", path.display()))?;
    if document.version != VERSION {
        let version = document.version;
        return Err(miette::miette!(
            help = help,
            "{} is a baseline of version {version}, and this chartc reads version {VERSION}",
            path.display()
        ));
    }
    Ok(document.findings)
}

/// The absolute path of the folder of a file.
fn folder(path: &Path) -> PathBuf {
    let folder = path.parent().unwrap_or(Path::new(""));
    let folder = std::path::absolute(folder.join(".")).unwrap_or_else(|_| folder.to_owned());
    tidy(&folder)
}

/// The path of a file relative to `folder`, so that a baseline is the same wherever the check runs; absolute if it is not below it.
fn relative(folder: &Path, name: &str) -> String {
    let path = std::path::absolute(name).unwrap_or_else(|_| PathBuf::from(name));
    let path = tidy(&path);
    shown(path.strip_prefix(folder).unwrap_or(&path))
}
