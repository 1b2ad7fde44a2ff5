//! A copy of the workspace with every fault behind a switch.

use crate::table::Mutant;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// The one test target of the copy: the tests of the semantics, under the names that they have in `language`, and what compiles
/// generated code.
const TESTS: &str = "//! The tests of the step semantics.\n
#[path = \"language/batch/mod.rs\"]
mod batch;
#[path = \"language/semantics/mod.rs\"]
mod semantics;
";

/// Which fault is switched on.
const SWITCH: &str = "
extern crate std;

/// Faults.
pub mod mutant {
    /// Whether the fault of that name is switched on.
    pub fn is(name: &str) -> bool {
        static NAME: std::sync::OnceLock<Option<std::string::String>> = std::sync::OnceLock::new();
        NAME.get_or_init(|| std::env::var(\"CHARTC_MUTANT\").ok()).as_deref() == Some(name)
    }
}
";

/// Copies the tracked files of the workspace below `target/mutants` and puts the faults in. Gives the folder of the copy.
///
/// # Errors
/// Files that cannot be read or written, and faults whose place is not found exactly once.
pub(crate) fn workspace(all: &[Mutant]) -> Result<PathBuf, String> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let root = root.canonicalize().map_err(|e| format!("the workspace: {e}"))?;
    let to = root.join("target/mutants/copy");
    let listed = Command::new("git").args(["ls-files", "-z"]).current_dir(&root).output();
    let listed = listed.map_err(|e| format!("git: {e}"))?;
    let listed = String::from_utf8(listed.stdout).map_err(|e| format!("git: {e}"))?;
    let mut changes: BTreeMap<&str, Vec<Change<'_>>> = BTreeMap::new();
    for mutant in all {
        for (old, new) in mutant.edits {
            let change = Change { name: mutant.name, old, new };
            changes.entry(mutant.file).or_default().push(change);
        }
    }
    let mut lost = Vec::new();
    for file in listed.split('\0').filter(|f| !f.is_empty()) {
        let Ok(mut bytes) = std::fs::read(root.join(file)) else { continue };
        if let Some(changes) = changes.remove(file) {
            let text = String::from_utf8(bytes).map_err(|e| format!("{file}: {e}"))?;
            match mutated(file, &text, &changes) {
                Ok(text) => bytes = text.into_bytes(),
                Err(why) => {
                    lost.push(why);
                    continue;
                }
            }
        }
        if file == "runtime/core/src/lib.rs" {
            bytes.extend_from_slice(SWITCH.as_bytes());
        }
        if file == "Cargo.toml" {
            let text = String::from_utf8(bytes).map_err(|e| format!("{file}: {e}"))?;
            bytes = manifest(&text).into_bytes();
        }
        write(&to.join(file), &bytes)?;
    }
    lost.extend(changes.keys().map(|file| format!("there is no file `{file}`")));
    if !lost.is_empty() {
        return Err(lost.join("\n"));
    }
    remove_others(&to, Path::new(""), &listed.split('\0').map(Path::new).collect())?;
    write(&to.join("tests/mutants.rs"), TESTS.as_bytes())?;
    Ok(to)
}

/// Removes the Rust files that the workspace no longer lists. Two files of one module would not build.
fn remove_others(to: &Path, folder: &Path, listed: &BTreeSet<&Path>) -> Result<(), String> {
    let failed = |e: std::io::Error| format!("{}: {e}", to.join(folder).display());
    for entry in std::fs::read_dir(to.join(folder)).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        let path = folder.join(entry.file_name());
        if !entry.file_type().map_err(failed)?.is_dir() {
            if path.extension().is_some_and(|e| e == "rs") && !listed.contains(path.as_path()) {
                std::fs::remove_file(to.join(&path)).map_err(failed)?;
            }
        } else if path != Path::new("target") {
            remove_others(to, &path, listed)?;
        }
    }
    Ok(())
}

/// Writes what has changed only, so that cargo builds no more than it must.
fn write(path: &Path, bytes: &[u8]) -> Result<(), String> {
    if std::fs::read(path).is_ok_and(|before| before == bytes) {
        return Ok(());
    }
    let folder = path.parent().unwrap_or(path);
    let made = std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, bytes));
    made.map_err(|e| format!("{}: {e}", path.display()))
}

/// The workspace's manifest with the compiler and what it needs only, and the test target.
fn manifest(text: &str) -> String {
    let lines = text
        .lines()
        .map(|line| if line.starts_with("members = ") { "members = [\".\"]" } else { line });
    let mut out: String = lines.flat_map(|line| [line, "\n"]).collect();
    out.push_str("\n[[test]]\nname = \"mutants\"\npath = \"tests/mutants.rs\"\n");
    out
}

struct Change<'m> {
    name: &'m str,
    old: &'m str,
    new: &'m str,
}

/// The places of the code of a change, and the code. Code that occurs more than once is written `before … code`: its place is the first one
/// behind `before`.
fn found<'o>(text: &str, old: &'o str) -> (Vec<usize>, &'o str) {
    let Some((before, old)) = old.split_once(" … ") else {
        return (text.match_indices(old).map(|(at, _)| at).collect(), old);
    };
    let ends = text.match_indices(before).map(|(at, before)| at + before.len());
    (ends.filter_map(|end| Some(end + text[end..].find(old)?)).collect(), old)
}

/// The text with the changes behind switches. Several may have one place, but no two may overlap.
fn mutated(file: &str, text: &str, changes: &[Change<'_>]) -> Result<String, String> {
    let mut places: BTreeMap<usize, Vec<Change<'_>>> = BTreeMap::new();
    let mut lost = Vec::new();
    for Change { name, old, new } in changes {
        let (found, code) = found(text, old);
        if let [at] = found[..] {
            places.entry(at).or_default().push(Change { name, old: code, new });
        } else {
            lost.push(format!("`{name}`: its place is {} times in {file}:\n{old}", found.len()));
        }
    }
    if !lost.is_empty() {
        return Err(lost.join("\n"));
    }
    let is = if file.starts_with("runtime/core/") { "crate" } else { "chartc_core" };
    let mut out = String::new();
    let mut end = 0;
    for (at, all) in places {
        let old = all[0].old;
        let apart = all.iter().find(|c| c.old != old).or(all.first().filter(|_| at < end));
        if let Some(change) = apart {
            return Err(format!("`{}` overlaps another fault in {file}", change.name));
        }
        out.push_str(&text[end..at]);
        let mut switched = String::new();
        for Change { name, new, .. } in all {
            switched.push_str(&format!("if {is}::mutant::is({name:?}) {{ {new} }} else "));
        }
        switched.push_str(&format!("{{ {old} }}"));
        let is_statement = old.ends_with([';', '}']);
        out.push_str(&if is_statement { switched } else { format!("({switched})") });
        end = at + old.len();
    }
    out.push_str(&text[end..]);
    Ok(out)
}
