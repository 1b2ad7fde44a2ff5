//! The file system: which files a command means, their texts, and what it writes.
#![allow(clippy::disallowed_methods, reason = "the one place that reads and writes files")]

use crate::load::Loader;
use std::collections::BTreeSet;
use std::io::{Read, Write};
use std::path::{Component, Path, PathBuf};

/// Name of the text on standard input.
pub const STDIN: &str = "<stdin>";

/// Files larger than this many bytes are refused: no chart is, and spans count in 32 bits.
pub const LARGEST: u64 = 16 << 20;

/// Reads from the file system; [`STDIN`] from standard input.
#[derive(Debug, Clone, Copy, Default)]
pub struct Files;

impl Loader for Files {
    fn read(&self, path: &str) -> Result<String, String> {
        let mut bytes = Vec::new();
        if path == STDIN {
            let input = std::io::stdin().lock();
            input.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| reason(&e))?;
        } else {
            let file = std::fs::File::open(path).map_err(|e| reason(&e))?;
            if file.metadata().map_err(|e| reason(&e))?.is_dir() {
                return Err("it is a folder".into());
            }
            file.take(LARGEST + 1).read_to_end(&mut bytes).map_err(|e| reason(&e))?;
        }
        text(bytes)
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        let folder = if from == STDIN { None } else { Path::new(from).parent() };
        let joined = folder.unwrap_or(Path::new("")).join(name);
        shown(&tidy(&joined))
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        names(path)
    }
}

/// The path of the file of this name in this folder, or else in the nearest above it that has one.
pub(super) fn above(name: &str) -> Option<String> {
    let here = std::env::current_dir().ok()?;
    let found = here.ancestors().map(|folder| folder.join(name)).find(|path| path.is_file())?;
    Some(shown(found.strip_prefix(&here).unwrap_or(&found)))
}

/// The text of a file.
///
/// # Errors
/// Why it cannot be read.
pub(super) fn read(path: &str) -> Result<String, String> {
    Files.read(path)
}

/// Whether there is such a file or folder.
#[cfg(feature = "run")]
pub(super) fn is_there(path: &Path) -> bool {
    path.exists()
}

/// The names of what a folder holds, the folder of this process for an empty path; `None` where there is none.
fn names(path: &str) -> Option<Vec<String>> {
    let folder = if path.is_empty() { "." } else { path };
    let entries = std::fs::read_dir(folder).ok()?;
    Some(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
}

/// The files that `paths` mean: files as they are, `-` as [`STDIN`], folders as every `*.chart`, `*.scxml`, `agent.yaml` and `*.agent.yaml`
/// below, ignored and hidden ones left out. Sorted within a folder, each once. No path means the current folder.
pub fn find(paths: &[String]) -> Vec<String> {
    meant(paths, |_| None)
}

/// Those of [`find`], and behind each file that is named the file with its tests, if it lies beside it: `x.test.chart` beside `x.chart`,
/// `x.agent.test.chart` beside `x.agent.yaml`.
#[cfg(feature = "run")]
pub(super) fn find_with_tests(paths: &[String]) -> Vec<String> {
    meant(paths, tests_of)
}

/// The files that `paths` mean, and with each that is named what goes with it.
fn meant(paths: &[String], with: impl Fn(&str) -> Option<String>) -> Vec<String> {
    let here = [".".to_owned()];
    let paths = if paths.is_empty() { &here[..] } else { paths };
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    let mut add = |name: String| {
        if seen.insert(name.clone()) {
            found.push(name);
        }
    };
    for path in paths {
        if path == "-" {
            add(STDIN.to_owned());
        } else if Path::new(path).is_dir() {
            below(Path::new(path)).into_iter().for_each(&mut add);
        } else {
            let name = shown(&tidy(Path::new(path)));
            let other = with(&name);
            add(name);
            other.into_iter().for_each(&mut add);
        }
    }
    found
}

/// The file beside this one that has its tests: one that imports other files instead has those of others.
#[cfg(feature = "run")]
fn tests_of(file: &str) -> Option<String> {
    const TESTS: &str = ".test.chart";
    let (stem, _) = file.rsplit_once('.').filter(|_| !file.ends_with(TESTS))?;
    let beside = format!("{stem}{TESTS}");
    let text = read(&beside).ok()?;
    let mut imports = text.lines().filter_map(imported).peekable();
    let is_of_others =
        imports.peek().is_some() && !imports.any(|name| Files.resolve(&beside, name) == file);
    (!is_of_others).then_some(beside)
}

/// The name in a line `import "name"`.
#[cfg(feature = "run")]
fn imported(line: &str) -> Option<&str> {
    let name = line.trim_start().strip_prefix("import")?.trim_start().strip_prefix('"')?;
    name.split_once('"').map(|(name, _)| name)
}

/// Writes a file, which it replaces.
///
/// # Errors
/// Why it could not be written.
pub fn write(path: &Path, text: &str) -> miette::Result<()> {
    std::fs::write(path, text)
        .map_err(|fault| miette::miette!("cannot write {}: {}", path.display(), reason(&fault)))
}

/// Writes a file so that it is there whole or not at all: beside it first, then by its name.
///
/// # Errors
/// Why it could not be written.
#[cfg(feature = "run")]
pub(super) fn write_whole(path: &Path, text: &str) -> miette::Result<()> {
    let mut beside = path.as_os_str().to_owned();
    beside.push(".part");
    let beside = PathBuf::from(beside);
    write(&beside, text)?;
    std::fs::rename(&beside, path)
        .map_err(|fault| miette::miette!("cannot write {}: {}", path.display(), reason(&fault)))
}

/// Makes a folder, if it is not there.
///
/// # Errors
/// Why it could not be made.
#[cfg(feature = "run")]
pub(super) fn make_folder(path: &Path) -> miette::Result<()> {
    std::fs::create_dir_all(path)
        .map_err(|fault| miette::miette!("cannot make {}: {}", path.display(), reason(&fault)))
}

/// Takes a file away.
///
/// # Errors
/// Why it could not be.
#[cfg(feature = "run")]
pub(super) fn remove(path: &Path) -> miette::Result<()> {
    std::fs::remove_file(path)
        .map_err(|fault| miette::miette!("cannot remove {}: {}", path.display(), reason(&fault)))
}

/// The names of what a folder holds; `None` where there is none.
#[cfg(feature = "run")]
pub(super) fn list(path: &Path) -> Option<Vec<String>> {
    names(&path.to_string_lossy())
}

/// Writes files by name into a folder, which is made if there are any and it is not there.
///
/// # Errors
/// Why the folder or a file could not be written.
pub fn write_into<'f>(
    folder: &Path,
    files: impl Iterator<Item = &'f (String, String)>,
) -> miette::Result<()> {
    for (nth, (name, text)) in files.enumerate() {
        if nth == 0 {
            std::fs::create_dir_all(folder).map_err(|fault| {
                miette::miette!("cannot write {}: {}", folder.display(), reason(&fault))
            })?;
        }
        write(&folder.join(name), text)?;
    }
    Ok(())
}

/// Writes files that are not there yet: all, or none where one of them is.
///
/// # Errors
/// Which file is there already, or why one could not be written.
pub fn write_new(files: &[(&Path, &str)]) -> miette::Result<()> {
    if let Some((path, _)) = files.iter().find(|(path, _)| path.symlink_metadata().is_ok()) {
        return Err(miette::miette!(
            help = "choose another name, or remove it first",
            "{} is there already",
            path.display()
        ));
    }
    for (path, text) in files {
        if let Some(folder) = path.parent().filter(|f| !f.as_os_str().is_empty() && !f.is_dir()) {
            return Err(miette::miette!("there is no folder {}", folder.display()));
        }
        let file = std::fs::OpenOptions::new().write(true).create_new(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes())).map_err(|fault| {
            miette::miette!("cannot write {}: {}", path.display(), reason(&fault))
        })?;
    }
    Ok(())
}

/// Opens a file to be written line by line, empty at first.
///
/// # Errors
/// Why it could not be made.
pub fn create(path: &Path) -> miette::Result<std::fs::File> {
    std::fs::File::create(path)
        .map_err(|fault| miette::miette!("cannot write {}: {}", path.display(), reason(&fault)))
}

/// Opens a file to be written to behind what it has.
///
/// # Errors
/// Why it could not be opened.
pub fn append(path: &Path) -> miette::Result<std::fs::File> {
    let file = std::fs::OpenOptions::new().create(true).append(true).open(path);
    file.map_err(|fault| miette::miette!("cannot write {}: {}", path.display(), reason(&fault)))
}

/// Charts below a folder. Links to folders are not followed, so a loop of links ends.
fn below(folder: &Path) -> Vec<String> {
    let walk = ignore::WalkBuilder::new(folder).require_git(false).follow_links(false).build();
    let mut names: Vec<String> = walk
        .flatten()
        .filter(|entry| entry.depth() > 0 && entry.path().is_file())
        .filter(|entry| is_chart(&entry.file_name().to_string_lossy()))
        .map(|entry| shown(&tidy(entry.path())))
        .collect();
    names.sort();
    names
}

/// Whether a file of this name is taken without being named. A front end takes more: any `.yaml` that is named.
fn is_chart(name: &str) -> bool {
    let yaml = ["agent.yaml", "agent.yml"];
    name.ends_with(".chart")
        || name.ends_with(".scxml")
        || yaml
            .iter()
            .any(|y| name.strip_suffix(y).is_some_and(|n| n.is_empty() || n.ends_with('.')))
}

/// Without `.` parts and with `x/..` taken away, so that a file has one name.
fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(tidied.components().next_back(), Some(Component::Normal(_))) =>
            {
                tidied.pop();
            }
            Component::ParentDir
            | Component::Normal(_)
            | Component::RootDir
            | Component::Prefix(_) => {
                tidied.push(part);
            }
        }
    }
    tidied
}

/// As shown to the user: with `/` everywhere.
fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    if bytes.len() as u64 > LARGEST {
        return Err(format!("it is larger than {} MiB", LARGEST >> 20));
    }
    if bytes.contains(&0) {
        return Err("it is not a text file".into());
    }
    let text = String::from_utf8(bytes)
        .map_err(|fault| format!("it is not UTF-8 (byte {})", fault.utf8_error().valid_up_to()))?;
    Ok(match text.strip_prefix('\u{feff}') {
        Some(rest) => rest.to_owned(),
        None => text,
    })
}

fn reason(fault: &std::io::Error) -> String {
    if fault.kind() == std::io::ErrorKind::NotFound {
        "there is no such file".into()
    } else {
        fault.to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn imports_are_relative_to_the_importing_file() {
        assert_eq!(Files.resolve("a/b.chart", "../tools.chart"), "tools.chart");
        assert_eq!(Files.resolve("./b.chart", "tools.chart"), "tools.chart");
        assert_eq!(Files.resolve(STDIN, "lib/tools.chart"), "lib/tools.chart");
        assert_eq!(Files.resolve("b.chart", "../../x.chart"), "../../x.chart");
    }

    #[test]
    fn folders_give_charts_and_agents() {
        let taken = ["a.chart", "a.scxml", "agent.yaml", "agent.yml", "x.agent.yaml"];
        assert!(taken.iter().all(|n| is_chart(n)));
        assert!(!["docker.yaml", "myagent.yaml", "a.charts"].iter().any(|n| is_chart(n)));
    }

    #[test]
    fn what_is_no_text_says_so() {
        assert_eq!(text(vec![0xEF, 0xBB, 0xBF, b'a']), Ok("a".into()));
        assert_eq!(text(vec![b'a', 0]), Err("it is not a text file".into()));
        assert_eq!(text(vec![b'a', 0xFF]), Err("it is not UTF-8 (byte 1)".into()));
    }
}
