//! The file system as a [`Loader`]. Imported files must lie below a root, and must be regular files.
#![allow(clippy::disallowed_methods, reason = "here the command line and build scripts read files")]

mod open;
mod path;

#[cfg(feature = "run")]
pub(crate) use open::stream;
#[cfg(feature = "cli")]
pub(crate) use open::{LARGEST, is_marked, read};
pub(crate) use open::{named, reason, regular};
pub(crate) use path::{shown, tidy};

use chartc_text::front::{Link, Refusal, Unread};
use chartc_text::load::Loader;
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};

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
