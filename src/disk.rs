//! The file system as a [`Loader`]. Imported files must lie below a root, and must be regular files.

#![allow(clippy::disallowed_methods, reason = "here files are opened, and paths resolved")]

use chartc_compiler::front::load::Loader;
use chartc_compiler::front::{Link, Refusal, Unread};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read};
use std::path::{Component, Path, PathBuf};

/// A folder that contains a file or folder of one of these names is the root of a project.
const MARKS: [&str; 2] = ["chartc.toml", ".git"];

/// Reads from the file system.
#[derive(Debug, Clone)]
pub(crate) struct Disk {
    /// The root that the user gave, if any.
    root: Option<PathBuf>,
    /// The folder that relative paths start from, and the root of files below it that have no other.
    here: PathBuf,
    /// Whether a folder above a file that holds one of [`MARKS`] takes precedence over `here` as its root.
    marks_first: bool,
    /// The help of the refusal of a file outside the root.
    cure: &'static str,
    /// The roots found so far, by the folder of the file.
    known: RefCell<BTreeMap<PathBuf, PathBuf>>,
}

impl Disk {
    /// Creates the file system of a command. `given` is the root that the user named with `--root`.
    ///
    /// # Errors
    /// The reason why `given` is not a folder.
    #[cfg(feature = "cli")]
    pub(crate) fn for_commands(here: PathBuf, given: Option<&Path>) -> Result<Self, String> {
        let root = given.map(folder).transpose()?;
        let cure = "imports stay below the nearest folder with a chartc.toml or a .git, else below the working directory: \
                    move the file, or name a folder above both with `--root DIR`";
        Ok(Self { root, here, marks_first: true, cure, known: RefCell::default() })
    }

    /// Creates the file system of the build script of the package in `here`. `given` is the root that the script named.
    ///
    /// # Errors
    /// The reason why `given` is not a folder.
    pub(crate) fn for_package(here: PathBuf, given: Option<&Path>) -> Result<Self, String> {
        let root = given.map(folder).transpose()?;
        let cure = "imports stay below the package's folder: move the file, or name a folder above both with \
                    `chartc::build::compile_below`";
        Ok(Self { root, here, marks_first: false, cure, known: RefCell::default() })
    }

    /// The root of the file at `path`: all files that it leads to must lie below this folder.
    pub(crate) fn root_of(&self, path: &Path) -> PathBuf {
        if let Some(root) = &self.root {
            return root.clone();
        }
        let folder = self.here.join(path.parent().unwrap_or(Path::new("")));
        let mut known = self.known.borrow_mut();
        known.entry(folder).or_insert_with_key(|folder| self.found_root(folder)).clone()
    }

    fn found_root(&self, folder: &Path) -> PathBuf {
        let folder = folder.canonicalize().unwrap_or_else(|_| folder.to_owned());
        let here = self.here.canonicalize().unwrap_or_else(|_| self.here.clone());
        if !self.marks_first && folder.starts_with(&here) {
            return here;
        }
        marked(&folder, here).unwrap_or(folder)
    }

    /// The root of the file at `path`, or `None` if there is neither a marked folder above it nor the working directory.
    #[cfg(feature = "cli")]
    pub(crate) fn project_of(&self, path: &Path) -> Option<PathBuf> {
        if let Some(root) = &self.root {
            return Some(root.clone());
        }
        let folder = path.parent()?.canonicalize().ok()?;
        marked(&folder, self.here.canonicalize().ok()?)
    }

    /// Checks that the file at `path` may be read for a file whose root is `root`. Symbolic links are followed first.
    ///
    /// # Errors
    /// The reason of the refusal. The file has not been opened.
    pub(crate) fn permit_below(&self, root: &Path, path: &Path, link: Link) -> Result<(), Unread> {
        let unreadable = |fault: std::io::Error| Unread::Unreadable(reason(&fault));
        let path = self.here.join(path);
        let real = path.canonicalize().map_err(unreadable)?;
        let is_beside = || link == Link::Companion && lies_in_its_folder(&path, &real);
        if !real.starts_with(root) && !is_beside() {
            let shown_root = self.shown_root(root);
            // The path is inside the root, and only a link can have led out of it.
            let why = if tidy(&path).starts_with(root) {
                format!("a link leads out of {shown_root}")
            } else {
                format!("it lies outside {shown_root}")
            };
            return Err(Unread::Refused(Refusal { why, cure: self.cure.to_owned() }));
        }
        let kind = real.metadata().map_err(unreadable)?.file_type();
        if !kind.is_file() {
            let why = if kind.is_dir() { "it is a folder" } else { "it is no regular file" };
            return Err(Unread::Unreadable(why.to_owned()));
        }
        // Otherwise a link `x.chart` could bring a file of another kind, such as `.env`, into the messages of the parser.
        let keeps_kind = match link {
            Link::Import | Link::Script | Link::Trace => link.takes(&name(real.file_name())),
            Link::Companion => real.extension() == path.extension(),
        };
        if keeps_kind {
            return Ok(());
        }
        Err(Unread::Refused(Refusal {
            why: "it is a link to a file of another kind".to_owned(),
            cure: "a link and the file that it leads to have names of the same kind".to_owned(),
        }))
    }

    fn shown_root(&self, root: &Path) -> String {
        match root.strip_prefix(self.here.canonicalize().as_deref().unwrap_or(&self.here)) {
            Ok(below) if below.as_os_str().is_empty() => "this folder".to_owned(),
            Ok(below) => format!("`{}`", shown(below)),
            Err(_) => format!("`{}`", shown(root)),
        }
    }
}

impl Loader for Disk {
    fn read(&self, path: &str) -> Result<String, String> {
        named(Path::new(path))
    }

    fn read_linked(&self, path: &str) -> Result<String, String> {
        regular(Path::new(path))
    }

    fn resolve(&self, from: &str, name: &str) -> String {
        let folder = Path::new(from).parent().unwrap_or(Path::new(""));
        shown(&tidy(&folder.join(name)))
    }

    fn root(&self, named: &str) -> String {
        shown(&self.root_of(Path::new(named)))
    }

    fn permit(&self, named: &str, path: &str, link: Link) -> Result<(), Unread> {
        self.permit_below(&self.root_of(Path::new(named)), Path::new(path), link)
    }

    fn list(&self, path: &str) -> Option<Vec<String>> {
        let folder = if path.is_empty() { "." } else { path };
        let entries = std::fs::read_dir(folder).ok()?;
        Some(entries.flatten().map(|e| name(Some(&e.file_name()))).collect())
    }
}

/// The nearest folder above, or equal to, `folder` that holds one of [`MARKS`]; else `here` if it contains `folder`.
fn marked(folder: &Path, here: PathBuf) -> Option<PathBuf> {
    let is_marked = |folder: &&Path| MARKS.iter().any(|mark| folder.join(mark).exists());
    let marked = folder.ancestors().find(is_marked).map(Path::to_owned);
    marked.or_else(|| folder.starts_with(&here).then_some(here))
}

/// Returns whether the path to a component has no link from `_components` on. `_components` is searched for in the folders above the
/// agent's, so it may lie above the root.
fn lies_in_its_folder(path: &Path, real: &Path) -> bool {
    let Some(outer) = path.ancestors().nth(3) else { return false };
    let Ok(inner) = path.strip_prefix(outer) else { return false };
    outer.canonicalize().is_ok_and(|outer| outer.join(inner) == real)
}

fn name(of: Option<&OsStr>) -> String {
    of.unwrap_or_default().to_string_lossy().into_owned()
}

fn folder(path: &Path) -> Result<PathBuf, String> {
    let real = path.canonicalize().map_err(|fault| reason(&fault))?;
    if real.is_dir() { Ok(real) } else { Err("it is no folder".to_owned()) }
}

// Reads text files. No function waits for a device or reads without bound; only [`named`] waits, for a pipe.

/// The maximum size of a file that people write, in bytes. No chart is larger, and spans count bytes in 32 bits.
pub(crate) const LARGEST: u64 = 16 << 20;

/// The maximum size of a file that a run writes, in bytes: more than fits into memory, so that whatever was written can be read.
#[cfg(feature = "run")]
const LARGEST_MADE: u64 = 1 << 40;

/// Reads the text of a file that the user named. A pipe is read to its end, as `<(command)` requires. A device is read only as far as it
/// has data at once.
///
/// # Errors
/// The reason why the file cannot be read.
pub(crate) fn named(path: &Path) -> Result<String, String> {
    named_within(path, LARGEST)
}

/// Reads the text of a file that a run has written, such as a trace, a snapshot or a recorded call: as [`named`], but of any size.
///
/// # Errors
/// The reason why the file cannot be read.
#[cfg(feature = "run")]
pub(crate) fn made(path: &Path) -> Result<String, String> {
    named_within(path, LARGEST_MADE)
}

fn named_within(path: &Path, largest: u64) -> Result<String, String> {
    let kind = path.metadata().map_err(|fault| reason(&fault))?.file_type();
    // Without `O_NONBLOCK`, opening a pipe waits until somebody writes to it.
    if is_pipe(kind) {
        let file = File::open(path).map_err(|fault| reason(&fault))?;
        return read_within(file, largest);
    }
    let file = without_waiting(path).map_err(|fault| reason(&fault))?;
    if file.metadata().map_err(|fault| reason(&fault))?.is_dir() {
        return Err("it is a folder".into());
    }
    read_within(file, largest)
}

/// Reads the text of a regular file. Anything else is refused, and opening it does not wait.
///
/// # Errors
/// The reason why the file cannot be read.
pub(crate) fn regular(path: &Path) -> Result<String, String> {
    regular_within(path, LARGEST)
}

/// Reads the text of a regular file that a run has written: as [`regular`], but of any size.
///
/// # Errors
/// The reason why the file cannot be read.
#[cfg(feature = "run")]
pub(crate) fn regular_made(path: &Path) -> Result<String, String> {
    regular_within(path, LARGEST_MADE)
}

fn regular_within(path: &Path, largest: u64) -> Result<String, String> {
    let file = without_waiting(path).map_err(|fault| reason(&fault))?;
    let kind = file.metadata().map_err(|fault| reason(&fault))?.file_type();
    if kind.is_dir() {
        return Err("it is a folder".into());
    }
    if !kind.is_file() {
        return Err("it is no regular file".into());
    }
    read_within(file, largest)
}

/// Opens a regular file of any size, to be read in pieces. Returns `None` for a pipe or a device, without waiting for it.
///
/// # Errors
/// The reason why the file cannot be opened.
#[cfg(feature = "run")]
pub(crate) fn stream(path: &Path) -> Result<Option<File>, String> {
    let kind = path.metadata().map_err(|fault| reason(&fault))?.file_type();
    if kind.is_dir() {
        return Err("it is a folder".into());
    }
    // Opening a pipe and closing it again would take the reader away from whoever writes to it.
    if !kind.is_file() {
        return Ok(None);
    }
    without_waiting(path).map(Some).map_err(|fault| reason(&fault))
}

/// The names of a folder's entries, in no particular order; `None` if the folder cannot be read.
#[cfg(feature = "run")]
pub(crate) fn list(path: &Path) -> Option<Vec<String>> {
    let entries = std::fs::read_dir(path).ok()?;
    Some(entries.flatten().map(|e| e.file_name().to_string_lossy().into_owned()).collect())
}

/// Whether a file begins with a byte order mark, which [`named`] and [`regular`] strip from its text.
#[cfg(feature = "cli")]
pub(crate) fn is_marked(path: &Path) -> bool {
    let mut first = [0; 3];
    let read = without_waiting(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && first == [0xEF, 0xBB, 0xBF]
}

/// Reads UTF-8 text of at most [`LARGEST`] bytes.
///
/// # Errors
/// The reason why the text cannot be read.
#[cfg(feature = "cli")]
pub(crate) fn read(from: impl Read) -> Result<String, String> {
    read_within(from, LARGEST)
}

fn read_within(from: impl Read, largest: u64) -> Result<String, String> {
    let mut bytes = Vec::new();
    // One byte more than allowed tells a file that is too large from one of exactly the maximum size.
    match from.take(largest + 1).read_to_end(&mut bytes) {
        Ok(_) if bytes.len() as u64 > largest => {
            Err(format!("it is larger than {} MiB", largest >> 20))
        }
        Ok(_) => text(bytes),
        Err(fault) if fault.kind() == ErrorKind::WouldBlock => {
            Err("it is a device that has nothing to read yet; `-` is standard input".into())
        }
        Err(fault) => Err(reason(&fault)),
    }
}

/// Opens a file for reading so that neither opening nor reading a pipe or a device waits.
#[cfg(unix)]
fn without_waiting(path: &Path) -> std::io::Result<File> {
    use std::os::unix::fs::OpenOptionsExt;
    // `O_NOCTTY`: opening a terminal must not make it the controlling terminal of this process.
    OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK | libc::O_NOCTTY).open(path)
}

#[cfg(not(unix))]
fn without_waiting(path: &Path) -> std::io::Result<File> {
    OpenOptions::new().read(true).open(path)
}

#[cfg(unix)]
fn is_pipe(kind: std::fs::FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_fifo()
}

#[cfg(not(unix))]
fn is_pipe(_: std::fs::FileType) -> bool {
    false
}

fn text(bytes: Vec<u8>) -> Result<String, String> {
    // A NUL means a binary file, which could be valid UTF-8 all the same.
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

/// The reason why the file system refuses, in words for the user.
pub(crate) fn reason(fault: &std::io::Error) -> String {
    if fault.kind() == ErrorKind::NotFound {
        "there is no such file".into()
    } else {
        fault.to_string()
    }
}

// Normalises paths, and formats them for users.

/// Removes `.` and resolves `x/..` without looking at the file system, so that a file has one name.
pub(crate) fn tidy(path: &Path) -> PathBuf {
    let mut tidied = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(tidied.components().next_back(), Some(Component::Normal(_))) =>
            {
                tidied.pop();
            }
            _ => {
                tidied.push(part);
            }
        }
    }
    tidied
}

/// Formats a path for users, with `/` as the separator on every system.
pub(crate) fn shown(path: &Path) -> String {
    path.to_string_lossy().replace('\\', "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_text_says_so() {
        assert_eq!(text(vec![0xEF, 0xBB, 0xBF, b'a']), Ok("a".into()));
        assert_eq!(text(vec![b'a', 0]), Err("it is not a text file".into()));
        assert_eq!(text(vec![b'a', 0xFF]), Err("it is not UTF-8 (byte 1)".into()));
    }
}
